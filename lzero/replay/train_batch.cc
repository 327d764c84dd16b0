#include "lzero/replay/train_batch.h"

#include <algorithm>
#include <cstddef>

namespace lzero {

int64_t TrainBatchBytes(const BatchShape& shape) {
  const int64_t samples = shape.num_samples;
  const int64_t context = samples * shape.num_context_steps;
  const int64_t unroll = samples * shape.num_unroll_steps;
  const int64_t action_words = std::max(1, shape.action_dim);
  const int64_t words = (context + unroll + samples) * shape.observation_size  // observations
                        + (context + unroll) * action_words                    // actions
                        + context                                              // context_mask
                        + 7 * unroll  // rewards, masks, value targets
                        + unroll * shape.num_actions * (1 + shape.action_dim)  // policies
                        + unroll * shape.observation_size  // bootstrap_observations
                        + samples;                         // importance_weights
  const int64_t masks = shape.action_dim > 0 ? 0 : unroll * shape.num_actions;
  return words * static_cast<int64_t>(sizeof(float)) + masks +
         samples * static_cast<int64_t>(sizeof(PositionHandle));
}

void TrainBatch::Resize(const BatchShape& shape) {
  if (shape == this->shape()) return;
  num_samples = shape.num_samples;
  num_context_steps = shape.num_context_steps;
  num_unroll_steps = shape.num_unroll_steps;
  num_actions = shape.num_actions;
  observation_size = shape.observation_size;
  action_dim = shape.action_dim;
  const size_t samples = static_cast<size_t>(num_samples);
  const size_t context = samples * num_context_steps;
  const size_t unroll = samples * num_unroll_steps;
  observations.assign((context + unroll + samples) * observation_size, 0.0f);
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
  bootstrap_observations.assign(unroll * observation_size, 0.0f);
  importance_weights.assign(samples, 1.0f);
  positions.assign(samples, PositionHandle{});
}

}  // namespace lzero
