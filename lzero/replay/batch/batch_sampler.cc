#include "lzero/replay/batch/batch_sampler.h"

#include "lzero/base/status_macros.h"

namespace lzero {

BatchSampler::BatchSampler(ReplayBuffer* replay, RandomStream* random, int batch_size,
                           bool draws_ahead)
    : replay_(*replay),
      random_(*random),
      batch_size_(batch_size),
      draws_ahead_(draws_ahead),
      before_drawing_(*random) {
  if (draws_ahead_) thread_ = std::thread([this] { Work(); });
}

BatchSampler::~BatchSampler() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchSampler::WaitForThread(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !is_asked_; });
}

absl::StatusOr<const TrainBatch*> BatchSampler::Next(bool another_follows) {
  if (has_drawn_) {
    std::unique_lock<std::mutex> lock(mutex_);
    WaitForThread(lock);
    has_drawn_ = false;
    LZ_RETURN_IF_ERROR(drawn_);
    current_ = 1 - current_;
  } else {
    LZ_RETURN_IF_ERROR(replay_.Sample(batch_size_, random_, &batches_[current_]));
  }
  if (draws_ahead_ && another_follows) {
    before_drawing_ = random_;
    has_drawn_ = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_asked_ = true;
    }
    changed_.notify_all();
  }
  return &batches_[current_];
}

void BatchSampler::Discard() {
  if (!has_drawn_) return;
  std::unique_lock<std::mutex> lock(mutex_);
  WaitForThread(lock);
  has_drawn_ = false;
  random_ = before_drawing_;
}

void BatchSampler::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_asked_ || stops_; });
    if (is_asked_) {
      lock.unlock();
      // The learner's thread leaves the stream and the other batch alone until it has waited.
      const absl::Status drawn = replay_.Sample(batch_size_, random_, &batches_[1 - current_]);
      lock.lock();
      drawn_ = drawn;
      is_asked_ = false;
      changed_.notify_all();
    }
    if (stops_) return;
  }
}

}  // namespace lzero
