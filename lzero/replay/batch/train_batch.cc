#include "lzero/replay/batch/train_batch.h"

#include <algorithm>
#include <cstddef>

namespace lzero {

int64_t NumObservationElements(const BatchShape& shape) {
  const int64_t steps = int64_t{shape.num_context_steps} + 2 * int64_t{shape.num_unroll_steps};
  return shape.num_samples * (steps + 1) * shape.observation_size;
}

int64_t TrainBatchBytes(const BatchShape& shape) {
  const int64_t samples = shape.num_samples;
  const int64_t context = samples * shape.num_context_steps;
  const int64_t unroll = samples * shape.num_unroll_steps;
  const int64_t action_words = std::max(1, shape.action_dim);
  const int64_t words = (context + unroll) * action_words  // actions
                        + context                          // context_mask
                        + 7 * unroll                       // rewards, masks, value targets
                        + unroll * shape.num_actions * (1 + shape.action_dim)  // policies
                        + samples;                                             // importance_weights
  const int64_t chances = shape.has_chance ? unroll * static_cast<int64_t>(sizeof(int32_t)) : 0;
  const int64_t masks = shape.action_dim > 0 ? 0 : unroll * shape.num_actions;
  return NumObservationElements(shape) * ObservationTypeSize(shape.observation_type) +
         words * static_cast<int64_t>(sizeof(float)) + masks + chances +
         samples * static_cast<int64_t>(sizeof(PositionHandle));
}

void TrainBatch::Resize(const BatchShape& shape) {
  if (shape == this->shape()) return;
  num_samples = shape.num_samples;
  num_context_steps = shape.num_context_steps;
  num_unroll_steps = shape.num_unroll_steps;
  num_actions = shape.num_actions;
  observation_size = shape.observation_size;
  observation_type = shape.observation_type;
  action_dim = shape.action_dim;
  has_chance = shape.has_chance;
  chance_outcomes.assign(
      has_chance ? static_cast<size_t>(shape.num_samples) * shape.num_unroll_steps : 0, -1);
  const size_t samples = static_cast<size_t>(num_samples);
  const size_t context = samples * num_context_steps;
  const size_t unroll = samples * num_unroll_steps;
  const bool are_bytes = observation_type == ObservationType::kUint8;
  const size_t sequence_size = (context + unroll + samples) * observation_size;
  const size_t bootstrap_size = unroll * observation_size;
  observations.assign(are_bytes ? 0 : sequence_size, 0.0f);
  observation_bytes.assign(are_bytes ? sequence_size : 0, 0);
  bootstrap_observations.assign(are_bytes ? 0 : bootstrap_size, 0.0f);
  bootstrap_observation_bytes.assign(are_bytes ? bootstrap_size : 0, 0);
  const size_t dim = static_cast<size_t>(action_dim);
  actions.assign(dim > 0 ? 0 : context + unroll, 0);
  action_values.assign((context + unroll) * dim, 0.0f);
  context_mask.assign(context, 0.0f);
  for (std::vector<float>* values : {&rewards, &reward_mask, &latent_mask, &policy_mask,
                                     &value_mask, &partial_returns, &bootstrap_scales}) {
    values->assign(unroll, 0.0f);
  }
  policies.assign(unroll * num_actions, 0.0f);
  sampled_actions.assign(unroll * num_actions * dim, 0.0f);
  legal_action_masks.assign(dim > 0 ? 0 : unroll * num_actions, 0);
  importance_weights.assign(samples, 1.0f);
  positions.assign(samples, PositionHandle{});
}

}  // namespace lzero
