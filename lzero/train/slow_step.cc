#include "lzero/train/slow_step.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_format.h"
#include "lzero/base/log.h"
#include "lzero/base/stopwatch.h"

namespace lzero {

SlowStepWatch::SlowStepWatch(const std::atomic<bool>* stop, std::string what, double slow_seconds)
    : stop_(stop), what_(std::move(what)), slow_seconds_(slow_seconds) {
  thread_ = std::thread([this] { Watch(); });
}

SlowStepWatch::~SlowStepWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SlowStepWatch::Begin(int64_t num_updates) {
  const std::lock_guard lock(mutex_);
  num_updates_ = num_updates;
  num_made_ = 0;
  start_ = last_ = MonotonicSeconds();
}

void SlowStepWatch::CountUpdate() {
  const std::lock_guard lock(mutex_);
  const double now = MonotonicSeconds();
  ++num_made_;
  update_seconds_ = now - last_;
  last_ = now;
}

void SlowStepWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    wake_.wait_for(lock, std::chrono::milliseconds(200));
    if (num_updates_ > 0) Look();
  }
}

void SlowStepWatch::Look() {
  const double seconds = MonotonicSeconds() - start_;
  if (seconds > slow_seconds_ && !told_slow_) {
    told_slow_ = true;
    LZ_LOG_INFO(absl::StrFormat(
        "slow          %d of %d updates after a step made in %.0f s (%s); Ctrl-C is obeyed after "
        "them",
        num_made_, num_updates_, seconds, what_));
  }
  // A moment later, so that a step which is as good as over says nothing.
  if (stop_ == nullptr || !stop_->load() || told_stop_ || seconds < 0.1 * slow_seconds_) return;
  told_stop_ = true;
  std::string left;
  if (update_seconds_ > 0.0) {
    const double rest = static_cast<double>(num_updates_ - num_made_) * update_seconds_;
    left = absl::StrFormat(", about %.0f s to go", std::max(1.0, rest));
  }
  LZ_LOG_INFO(absl::StrFormat("stopping      %d of %d updates made in %.0f s%s", num_made_,
                              num_updates_, seconds, left));
}

}  // namespace lzero
