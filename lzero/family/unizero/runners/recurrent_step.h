// The recurrent step behind fixed buffers: B parents' contexts and B actions in; rewards, values,
// prior logits and the children's two tokens out. Runners implement it; `eager` is the oracle that
// every other runner must match. No gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_RECURRENT_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_RECURRENT_STEP_H_

#include <cstdint>
#include <string>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/engine/step_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/kv_cache/tensor/tensor_token_pool.h"
#include "lzero/tensor/staging.h"

namespace lzero {

// Contexts in tensors of their own: tokens [M, W - 1, L, 2, E] float32, lengths [M] int64.
struct ContextTensors {
  at::Tensor tokens, lengths;

  ContextBatch batch() const { return ContextsIn(tokens, lengths); }
};

// Allocated once when the step is built; addresses never change. Axes: M = max_batch rows, of which
// the first `batch_size` of a Run are used.
struct StepBuffers {
  ContextTensors contexts;  // in: tokens [M, W - 1, L, 2, E] float32, lengths [M] int64
  at::Tensor actions;       // in: [M] int64; box: [M, D] float32 in [-1, 1]
  at::Tensor rewards;       // out: [M] float32
  at::Tensor values;        // out: [M] float32, of the child
  at::Tensor prior_logits;  // out: [M, policy size] float32, of the child
  at::Tensor tokens;        // out: [M, 2, L, 2, E] float32, action token then latent token
};

class RecurrentStep : public StepRunner {
 public:
  // Reads and writes the first `batch_size` rows of buffers(), in the shapes of StepBuffers; later
  // rows of the outputs are unspecified. Returns before a device has finished.
  virtual absl::Status Run(int64_t batch_size) = 0;
  // The model's weights were changed in place: what a runner derived from them is out of date.
  virtual void OnWeightsChanged() = 0;
  StepBuffers& buffers() { return buffers_; }

 protected:
  explicit RecurrentStep(StepBuffers buffers) : buffers_(std::move(buffers)) {}
  StepBuffers buffers_;
};

// A step whose inputs and outputs are copied into and out of its buffers.
class BufferedStep : public RecurrentStep {
 public:
  absl::Status RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                        const StepTimes& times) override;

 protected:
  explicit BufferedStep(StepBuffers buffers);

 private:
  Staging actions_, rewards_, values_, prior_logits_;  // the buffers
};

// Zeros on the model's device, M = max_batch.
ContextTensors MakeContextTensors(const WorldModel& model, int64_t max_batch);
// Zeros on the model's device, in the shapes and types of StepBuffers.
StepBuffers MakeStepBuffers(const WorldModel& model, int64_t max_batch);

// Bytes of ContextTensors and of StepBuffers for a model of this config and shape.
int64_t ContextTensorsBytes(const ModelConfig& config, int64_t max_batch);
int64_t StepBuffersBytes(const ModelConfig& config, const WorldModelShape& shape,
                         int64_t max_batch);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_RECURRENT_STEP_H_
