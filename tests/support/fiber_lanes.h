// The lanes of base/lanes/one_lane.h as fibers of one thread, for tests of functions that lanes
// share. A lane goes on until it needs a number, or a Join, of one that is behind: what it reads
// without the Join that it needs is stale in every run. Join alone orders memory, which a thread
// sanitizer checks.
#ifndef LZERO_TESTS_SUPPORT_FIBER_LANES_H_
#define LZERO_TESTS_SUPPORT_FIBER_LANES_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/base/check.h"
#include "tests/support/fiber.h"

namespace lzero {

template <int Count>
class FiberLanes {
 public:
  // Calls body(lanes) in every lane. They take turns, in one order and then in the other.
  template <typename Body>
  static void Run(const Body& body) {
    Warp warp;
    std::vector<std::unique_ptr<Fiber>> fibers;
    for (int lane = 0; lane < Count; ++lane) {
      fibers.push_back(std::make_unique<Fiber>([&, lane] {
        Fiber& fiber = *fibers[static_cast<size_t>(lane)];
        body(FiberLanes(lane, &warp, &fiber));
        warp.num_finished.fetch_add(1, std::memory_order_relaxed);
        for (;;) fiber.SwitchTo(&warp.main, /*is_ordered=*/true);
      }));
    }
    for (int turn = 0; warp.num_finished.load(std::memory_order_relaxed) < Count; ++turn) {
      LZ_CHECK(warp.num_waits.load(std::memory_order_relaxed) < 4 * Count,
               "the lanes wait for one another");
      const int place = turn % Count;
      const int lane = turn / Count % 2 == 0 ? place : Count - 1 - place;
      warp.main.SwitchTo(fibers[static_cast<size_t>(lane)].get(), /*is_ordered=*/turn < Count);
    }
  }

  static constexpr int count() { return Count; }
  int lane() const { return lane_; }
  void Join() const {
    num_words_at_join_ = num_words_;
    ++num_joins_;
    // Two of each lane: one that is ahead does not order what it wrote since.
    auto& joins = warp_->num_joins[num_joins_ % 2];
    joins[static_cast<size_t>(lane_)].store(num_joins_, std::memory_order_release);
    warp_->num_waits.store(0, std::memory_order_relaxed);
    for (const std::atomic<uint32_t>& of_lane : joins) {
      while (of_lane.load(std::memory_order_acquire) != num_joins_) Wait();
    }
  }
  template <typename T>
  T Sum(T x) const {
    Publish(std::bit_cast<uint32_t>(x));
    T sum = {};
    for (int lane = 0; lane < Count; ++lane) sum += std::bit_cast<T>(WordOf(lane));
    return sum;
  }
  template <typename T>
  T Max(T x) const {
    Publish(std::bit_cast<uint32_t>(x));
    for (int lane = 0; lane < Count; ++lane) x = std::max(x, std::bit_cast<T>(WordOf(lane)));
    return x;
  }
  template <typename T>
  T Read(T x, int lane) const {
    auto words = std::bit_cast<std::array<uint32_t, sizeof(T) / sizeof(uint32_t)>>(x);
    for (uint32_t& word : words) {
      Publish(word);
      word = WordOf(lane);
    }
    return std::bit_cast<T>(words);
  }

 private:
  static constexpr uint32_t kMostWords = 1024;  // of a lane between two Joins

  struct Warp {
    Fiber main;
    std::array<std::array<std::atomic<uint32_t>, Count>, 2> num_joins = {};
    // The number of a word, from 1, above the word.
    std::vector<std::array<std::atomic<uint64_t>, kMostWords>> words{Count};
    std::atomic<int> num_waits = 0;  // since a lane went on
    std::atomic<int> num_finished = 0;
  };

  FiberLanes(int lane, Warp* warp, Fiber* fiber) : lane_(lane), warp_(warp), fiber_(fiber) {}

  void Wait() const {
    warp_->num_waits.fetch_add(1, std::memory_order_relaxed);
    fiber_->SwitchTo(&warp_->main, /*is_ordered=*/false);
  }
  void Publish(uint32_t word) const {
    ++num_words_;
    LZ_CHECK(num_words_ - num_words_at_join_ <= kMostWords, "more words without a Join");
    warp_->num_waits.store(0, std::memory_order_relaxed);
    At(lane_).store(uint64_t{num_words_} << 32 | word, std::memory_order_relaxed);
  }
  // What `lane` published under the same number.
  uint32_t WordOf(int lane) const {
    for (;; Wait()) {
      const uint64_t word = At(lane).load(std::memory_order_relaxed);
      if (word >> 32 == num_words_) return static_cast<uint32_t>(word);
    }
  }
  std::atomic<uint64_t>& At(int lane) const {
    return warp_->words[static_cast<size_t>(lane)][num_words_ % kMostWords];
  }

  int lane_;
  Warp* warp_;
  Fiber* fiber_;
  mutable uint32_t num_words_ = 0;
  mutable uint32_t num_words_at_join_ = 0;
  mutable uint32_t num_joins_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_FIBER_LANES_H_
