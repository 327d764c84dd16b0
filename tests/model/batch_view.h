// A TrainBatch as the tensors that losses read, without a copy. No thread rule.
#ifndef LZERO_TESTS_MODEL_BATCH_VIEW_H_
#define LZERO_TESTS_MODEL_BATCH_VIEW_H_

#include <vector>

#include "lzero/model/batch_tensors.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/tensor/torch.h"

namespace lzero::reference {

template <typename T>
inline at::Tensor View(std::vector<T>& values, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(values.data(), shape, at::TensorOptions().dtype(type));
}

// The batch's own arrays as tensors.
inline BatchTensors ViewBatch(TrainBatch& batch) {
  const int64_t n = batch.num_samples, c = batch.num_context_steps, u = batch.num_unroll_steps;
  const int64_t a = batch.num_actions, obs = batch.observation_size;
  BatchTensors tensors;
  tensors.observations = View(batch.observations, {n, c + u + 1, obs}, at::kFloat);
  tensors.actions = View(batch.actions, {n, c + u}, at::kInt);
  if (c > 0) {
    const at::Tensor mask = View(batch.context_mask, {n, c}, at::kFloat);
    tensors.num_padding = (2.0 * (static_cast<double>(c) - mask.sum(1))).to(at::kLong);
  }
  tensors.rewards = View(batch.rewards, {n, u}, at::kFloat);
  tensors.reward_mask = View(batch.reward_mask, {n, u}, at::kFloat);
  tensors.latent_mask = View(batch.latent_mask, {n, u}, at::kFloat);
  tensors.policies = View(batch.policies, {n, u, a}, at::kFloat);
  tensors.policy_mask = View(batch.policy_mask, {n, u}, at::kFloat);
  tensors.illegal = View(batch.legal_action_masks, {n, u, a}, at::kByte) == 0;
  tensors.value_mask = View(batch.value_mask, {n, u}, at::kFloat);
  tensors.partial_returns = View(batch.partial_returns, {n, u}, at::kFloat);
  tensors.bootstrap_scales = View(batch.bootstrap_scales, {n, u}, at::kFloat);
  tensors.bootstrap_observations = View(batch.bootstrap_observations, {n, u, obs}, at::kFloat);
  tensors.importance_weights = View(batch.importance_weights, {n}, at::kFloat);
  tensors.num_context_steps = c;
  return tensors;
}

}  // namespace lzero::reference

#endif  // LZERO_TESTS_MODEL_BATCH_VIEW_H_
