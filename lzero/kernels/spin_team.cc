#include "lzero/kernels/spin_team.h"

#include <chrono>

#include "lzero/base/check.h"

namespace lzero {
namespace {

// A few microseconds of pauses: longer than the work between two loops of an update.
constexpr int kSpinsBeforeSleep = 300;
// A word of claims: the next part below, then the number of parts, then the number of the call.
constexpr uint32_t kParts = 2 * SpinTeam::kMostParts;
constexpr uint32_t kCall = kParts * kParts;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

int64_t NowMicroseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// Waits until `value` is no longer `old`.
template <typename T>
void WaitWhile(const std::atomic<T>& value, T old) {
  for (int spins = 0; spins < kSpinsBeforeSleep; ++spins) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

SpinTeam::SpinTeam(int num_members) : num_members_(num_members) {
  LZ_CHECK(num_members >= 1 && num_members <= kMostParts, "a team of ", num_members);
  for (int member = 1; member < num_members; ++member) {
    threads_.emplace_back([this] { Work(); });
  }
}

SpinTeam::~SpinTeam() {
  stop_.store(true, std::memory_order_relaxed);
  claims_.fetch_add(kCall, std::memory_order_release);
  claims_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int64_t SpinTeam::Run(int num_parts, absl::FunctionRef<void(int)> body) {
  LZ_DCHECK(num_parts >= 1 && num_parts <= kMostParts);
  if (threads_.empty() || num_parts == 1) {
    for (int part = 0; part < num_parts; ++part) body(part);
    return 0;
  }
  const int64_t called = NowMicroseconds();
  body_ = &body;
  num_unfinished_.store(num_parts, std::memory_order_relaxed);
  // Every part of the call before is taken, so nobody else writes the claims.
  const uint32_t call = claims_.load(std::memory_order_relaxed) / kCall + 1;
  claims_.store(call * kCall + static_cast<uint32_t>(num_parts) * kParts + 1,
                std::memory_order_release);
  claims_.notify_all();
  body(0);
  num_unfinished_.fetch_sub(1, std::memory_order_acq_rel);
  int own_parts = 1;
  TakeParts(&own_parts);
  const int64_t started = NowMicroseconds(), worked = started - called;
  for (int left = 0; (left = num_unfinished_.load(std::memory_order_acquire)) > 0;) {
    WaitWhile(num_unfinished_, left);
  }
  const int64_t work_of_others = worked * (num_parts - own_parts) / own_parts;
  return work_of_others - 2 * (NowMicroseconds() - started);
}

uint32_t SpinTeam::TakeParts(int* num_taken) {
  uint32_t claims = claims_.load(std::memory_order_acquire);
  while (claims % kParts < claims / kParts % kParts) {
    if (!claims_.compare_exchange_weak(claims, claims + 1, std::memory_order_acq_rel)) continue;
    ++*num_taken;
    (*body_)(static_cast<int>(claims % kParts));
    if (num_unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) num_unfinished_.notify_one();
    claims = claims_.load(std::memory_order_acquire);
  }
  return claims;
}

void SpinTeam::Work() {
  for (int num_taken = 0;;) {
    const uint32_t claims = TakeParts(&num_taken);
    // Behind the claims: whoever sees those of the end sees that it is one.
    if (stop_.load(std::memory_order_relaxed)) return;
    WaitWhile(claims_, claims);
  }
}

void SpinTeam::Barrier() {
  if (threads_.empty()) return;
  const uint32_t passed = barriers_.load(std::memory_order_acquire);
  if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) == num_members_ - 1) {
    num_arrived_.store(0, std::memory_order_relaxed);
    barriers_.store(passed + 1, std::memory_order_release);
    barriers_.notify_all();
    return;
  }
  while (barriers_.load(std::memory_order_acquire) == passed) WaitWhile(barriers_, passed);
}

}  // namespace lzero
