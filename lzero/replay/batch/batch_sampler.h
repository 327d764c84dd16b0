// Draws training batches one after the other, each while the learner works on the one before: in
// a thread of its own, into one of two batches that are allocated once. What is drawn is what as
// many calls of ReplayBuffer::Sample would draw, whatever the timing. Belongs to the learner's
// thread.
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
  // Both outlive the sampler. `draws_ahead`: batches may be drawn before the update of the one
  // before is over; not for prioritised replay, whose weights that update changes.
  BatchSampler(ReplayBuffer* replay, RandomStream* random, int batch_size, bool draws_ahead);
  BatchSampler(const BatchSampler&) = delete;
  BatchSampler& operator=(const BatchSampler&) = delete;

  // The next batch, valid until the next call. `another_follows`: Next will be called again before
  // the replay or the stream is used elsewhere, so that it may be drawn already. Errors as
  // ReplayBuffer::Sample.
  absl::StatusOr<const TrainBatch*> Next(bool another_follows);

  // What Next returned last; empty before.
  const TrainBatch& last() const { return batches_[current_]; }

  // Takes back a batch that was drawn ahead: the stream is as if it had not been. Call it when Next
  // does not follow after all.
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
