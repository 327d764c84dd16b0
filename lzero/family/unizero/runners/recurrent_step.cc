#include "lzero/family/unizero/runners/recurrent_step.h"

#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/inference/tensor/engine_network.h"
#include "lzero/tensor/torch.h"

namespace lzero {

BufferedStep::BufferedStep(StepBuffers buffers)
    : RecurrentStep(std::move(buffers)),
      actions_(Staging::Wrap("actions of a step", buffers_.actions)),
      rewards_(Staging::Wrap("rewards of a step", buffers_.rewards)),
      values_(Staging::Wrap("values of a step", buffers_.values)),
      prior_logits_(Staging::Wrap("prior logits of a step", buffers_.prior_logits)) {}

absl::Status BufferedStep::RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                                    const StepTimes& times) {
  {
    const ScopedTimer timer(times.copy);
    LZ_RETURN_IF_ERROR(CopyActions(nodes.actions, &actions_));
    LZ_RETURN_IF_ERROR(cache->CloneInto(nodes.parents, buffers_.contexts.batch()));
  }
  {
    const ScopedTimer timer(times.network);
    LZ_RETURN_IF_ERROR(Run(static_cast<int64_t>(nodes.parents.size())));
  }
  const ScopedTimer timer(times.copy);
  LZ_RETURN_IF_ERROR(cache->StoreRecurrent(nodes.children, FloatRows(buffers_.tokens)));
  LZ_RETURN_IF_ERROR(rewards_.CopyOut(nodes.rewards));
  LZ_RETURN_IF_ERROR(values_.CopyOut(nodes.values));
  return prior_logits_.CopyOut(nodes.policies);
}

ContextTensors MakeContextTensors(const WorldModel& model, int64_t max_batch) {
  const Transformer& transformer = model.transformer();
  const auto floats = at::TensorOptions().device(model.device());
  return {at::zeros({max_batch, transformer.context_length() - 1, transformer.num_layers(), 2,
                     model.config().embed_dim},
                    floats),
          at::zeros({max_batch}, floats.dtype(at::kLong))};
}

StepBuffers MakeStepBuffers(const WorldModel& model, int64_t max_batch) {
  const int64_t num_layers = model.transformer().num_layers();
  StepBuffers buffers;
  buffers.contexts = MakeContextTensors(model, max_batch);
  const auto floats = at::TensorOptions().device(model.device());
  const int64_t action_dim = model.shape().action_dim;
  buffers.actions = action_dim > 0 ? at::zeros({max_batch, action_dim}, floats)
                                   : at::zeros({max_batch}, floats.dtype(at::kLong));
  buffers.rewards = at::zeros({max_batch}, floats);
  buffers.values = at::zeros({max_batch}, floats);
  buffers.prior_logits = at::zeros({max_batch, model.shape().policy_size()}, floats);
  buffers.tokens = at::zeros({max_batch, 2, num_layers, 2, model.config().embed_dim}, floats);
  return buffers;
}

int64_t ContextTensorsBytes(const ModelConfig& config, int64_t max_batch) {
  const int64_t floats = (config.context_length - 1) * config.num_layers * 2 * config.embed_dim;
  return max_batch *
         (floats * static_cast<int64_t>(sizeof(float)) + static_cast<int64_t>(sizeof(int64_t)));
}

int64_t StepBuffersBytes(const ModelConfig& config, const WorldModelShape& shape,
                         int64_t max_batch) {
  // Rewards, values, prior logits, two tokens; and the actions.
  const int64_t floats = 2 + shape.policy_size() + 2 * config.num_layers * 2 * config.embed_dim;
  const auto float_size = static_cast<int64_t>(sizeof(float));
  const int64_t action =
      shape.action_dim > 0 ? shape.action_dim * float_size : static_cast<int64_t>(sizeof(int64_t));
  return ContextTensorsBytes(config, max_batch) + max_batch * (floats * float_size + action);
}

}  // namespace lzero
