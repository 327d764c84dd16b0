#include "lzero/replay/batch/batch_sampler.h"

#include "lzero/base/status_macros.h"

namespace lzero {

BatchSampler::BatchSampler(ReplayBuffer* replay, RandomStream* random, int batch_size,
                           bool draws_ahead)
    : replay_(*replay),
      random_(*random),
      batch_size_(batch_size),
      draws_ahead_(draws_ahead),
      before_drawing_(*random) {}

absl::StatusOr<const TrainBatch*> BatchSampler::Next(bool another_follows) {
  if (ahead_.valid()) {
    LZ_RETURN_IF_ERROR(ahead_.get());
    current_ = 1 - current_;
  } else {
    LZ_RETURN_IF_ERROR(replay_.Sample(batch_size_, random_, &batches_[current_]));
  }
  if (draws_ahead_ && another_follows) {
    before_drawing_ = random_;
    // The learner's thread leaves the stream and the other batch alone until it has waited.
    ahead_ = std::async(std::launch::async, [this] {
      return replay_.Sample(batch_size_, random_, &batches_[1 - current_]);
    });
  }
  return &batches_[current_];
}

void BatchSampler::Discard() {
  if (!ahead_.valid()) return;
  if (ahead_.get().ok()) replay_.TakeBackSample(batch_size_);
  random_ = before_drawing_;
}

}  // namespace lzero
