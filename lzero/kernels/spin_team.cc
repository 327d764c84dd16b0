#include "lzero/kernels/spin_team.h"

#include "lzero/base/check.h"

namespace lzero {
namespace {

// About 30 us of pauses: longer than the tree work between two steps of a search.
constexpr int kSpinsBeforeSleep = 1500;
// Where members share a core, the one that is waited for must get it.
constexpr int kSpinsBeforeYield = 300;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

template <typename Condition>
void SpinUntil(const Condition& is_met) {
  for (int spins = 0; !is_met(); ++spins) {
    if (spins < kSpinsBeforeYield) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace

SpinTeam::SpinTeam(int num_members) {
  LZ_CHECK(num_members >= 1, "a team of ", num_members);
  for (int member = 1; member < num_members; ++member) {
    threads_.emplace_back([this, member] { Work(member); });
  }
}

SpinTeam::~SpinTeam() {
  stop_ = true;
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SpinTeam::Run(absl::FunctionRef<void(int)> body) {
  if (threads_.empty()) return body(0);
  body_ = &body;
  num_working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  body(0);
  SpinUntil([this] { return num_working_.load(std::memory_order_acquire) == 0; });
}

void SpinTeam::Work(int member) {
  for (uint32_t seen = 0;; ++seen) {
    for (int spins = 0; call_.load(std::memory_order_acquire) == seen; ++spins) {
      if (spins < kSpinsBeforeSleep) {
        Pause();
      } else {
        call_.wait(seen, std::memory_order_acquire);
      }
    }
    if (stop_) return;
    (*body_)(member);
    num_working_.fetch_sub(1, std::memory_order_release);
  }
}

void SpinTeam::Barrier() {
  if (threads_.empty()) return;
  const uint32_t passed = barriers_.load(std::memory_order_acquire);
  if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) == static_cast<int>(threads_.size())) {
    num_arrived_.store(0, std::memory_order_relaxed);
    barriers_.store(passed + 1, std::memory_order_release);
    return;
  }
  SpinUntil([this, passed] { return barriers_.load(std::memory_order_acquire) != passed; });
}

}  // namespace lzero
