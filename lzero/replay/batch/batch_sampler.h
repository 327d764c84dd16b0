// Draws the next training batch in a thread of its own while the learner works on the last one. Two
// batches are allocated once and alternate. It draws what the same number of calls of
// ReplayBuffer::Sample would draw, whatever the timing. Belongs to the learner's thread.
#ifndef LZERO_REPLAY_BATCH_BATCH_SAMPLER_H_
#define LZERO_REPLAY_BATCH_BATCH_SAMPLER_H_

#include <future>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/rng.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/replay_buffer.h"

namespace lzero {

class BatchSampler {
 public:
  // Both must outlive the sampler. `draws_ahead` allows it to draw a batch before the update of the
  // last one is over. Not for prioritised replay: that update changes its weights.
  BatchSampler(ReplayBuffer* replay, RandomStream* random, int batch_size, bool draws_ahead);
  BatchSampler(const BatchSampler&) = delete;
  BatchSampler& operator=(const BatchSampler&) = delete;

  // The next batch, valid until the next call. `another_follows`: the caller will call Next again
  // before anything else uses the replay or the stream, so the sampler may draw ahead. Errors as
  // ReplayBuffer::Sample.
  absl::StatusOr<const TrainBatch*> Next(bool another_follows);

  // What Next returned last; empty before.
  const TrainBatch& last() const { return batches_[current_]; }

  // Takes back a batch that was drawn ahead and restores the stream and the replay's count of
  // samples. Call it when Next does not follow after all.
  void Discard();

 private:
  ReplayBuffer& replay_;
  RandomStream& random_;
  const int batch_size_;
  const bool draws_ahead_;
  TrainBatch batches_[2];
  int current_ = 0;                  // the batch that Next returned last
  RandomStream before_drawing_;      // of what is drawn ahead
  std::future<absl::Status> ahead_;  // the draw of the other batch; waits for it at the end
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_BATCH_SAMPLER_H_
