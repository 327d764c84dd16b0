#include "lzero/train/batch_staging.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

enum Array {
  kObservations,
  kBootstrapObservations,
  kActions,  // values, of box actions
  kPadding,
  kRewards,
  kRewardMask,
  kLatentMask,
  kPolicies,
  kPolicyMask,
  kLegalOrSampled,  // legal action masks; of box actions those that were sampled
  kValueMask,
  kPartialReturns,
  kBootstrapScales,
  kImportanceWeights,
  kChanceOutcomes,  // there where the batch has them
};

struct ArrayPlan {
  const char* name;
  std::vector<int64_t> shape;
  at::ScalarType type;
};

// In the order of Array.
std::vector<ArrayPlan> PlanArrays(const BatchShape& shape) {
  const int64_t n = shape.num_samples, u = shape.num_unroll_steps, a = shape.num_actions;
  const int64_t steps = shape.num_context_steps + u, obs = shape.observation_size;
  const int64_t dim = shape.action_dim;
  const at::ScalarType observation_type =
      shape.observation_type == ObservationType::kUint8 ? at::kByte : at::kFloat;
  const ArrayPlan actions = dim > 0 ? ArrayPlan{"actions", {n, steps, dim}, at::kFloat}
                                    : ArrayPlan{"actions", {n, steps}, at::kInt};
  const ArrayPlan choice = dim > 0 ? ArrayPlan{"sampled_actions", {n, u, a, dim}, at::kFloat}
                                   : ArrayPlan{"legal_action_masks", {n, u, a}, at::kByte};
  return {{"observations", {n, steps + 1, obs}, observation_type},
          {"bootstrap_observations", {n, u, obs}, observation_type},
          actions,
          {"num_padding", {n}, at::kLong},
          {"rewards", {n, u}, at::kFloat},
          {"reward_mask", {n, u}, at::kFloat},
          {"latent_mask", {n, u}, at::kFloat},
          {"policies", {n, u, a}, at::kFloat},
          {"policy_mask", {n, u}, at::kFloat},
          choice,
          {"value_mask", {n, u}, at::kFloat},
          {"partial_returns", {n, u}, at::kFloat},
          {"bootstrap_scales", {n, u}, at::kFloat},
          {"importance_weights", {n}, at::kFloat},
          {"chance_outcomes", {n, shape.has_chance ? u : 0}, at::kInt}};
}

// Two tokens for each context step before the episode's start: [N, C] mask -> [N].
void CountPadding(const TrainBatch& batch, std::vector<int64_t>* num_padding) {
  const size_t num_context_steps = batch.num_context_steps;
  num_padding->assign(batch.num_samples, 0);
  for (size_t i = 0; i < batch.context_mask.size(); ++i) {
    if (batch.context_mask[i] == 0.0f) (*num_padding)[i / num_context_steps] += 2;
  }
}

}  // namespace

absl::StatusOr<BatchStaging> BatchStaging::Create(const BatchShape& shape, at::Device device) {
  std::vector<Staging> arrays;
  for (ArrayPlan& plan : PlanArrays(shape)) {
    LZ_ASSIGN_OR_RETURN(Staging array,
                        Staging::Create(plan.name, std::move(plan.shape), plan.type, device));
    arrays.push_back(std::move(array));
  }
  return BatchStaging(shape, std::move(arrays));
}

BatchStaging::BatchStaging(const BatchShape& shape, std::vector<Staging> arrays)
    : shape_(shape), arrays_(std::move(arrays)) {}

template <typename T>
absl::Status BatchStaging::CopyIn(int array, const std::vector<T>& values) {
  Staging& staging = arrays_[array];
  LZ_CHECK(static_cast<int64_t>(values.size()) == staging.tensor().numel(), staging.name(), ": ",
           values.size(), " values for ", staging.tensor().numel());
  return staging.CopyInAsync(absl::MakeConstSpan(values));
}

absl::StatusOr<at::Tensor> BatchStaging::LoadObservations(int array,
                                                          const std::vector<float>& numbers,
                                                          const std::vector<uint8_t>& bytes) {
  const at::Tensor& staged = arrays_[array].tensor();
  if (shape_.observation_type == ObservationType::kFloat32) {
    LZ_RETURN_IF_ERROR(CopyIn(array, numbers));
    return staged;
  }
  LZ_RETURN_IF_ERROR(CopyIn(array, bytes));
  return CatchTorch([&] {
    const torch::NoGradGuard no_grad;
    at::Tensor& fractions = fractions_[array];
    if (!fractions.defined()) {
      fractions = at::empty(staged.sizes(), staged.options().dtype(at::kFloat));
      // A number would be turned into a factor by CUDA's kernel, and k * (1 / 255) is not k / 255.
      divisor_ = at::full({1}, 255.0, fractions.options());
    }
    return fractions.copy_(staged).div_(divisor_);
  });
}

absl::StatusOr<BatchTensors> BatchStaging::Load(const TrainBatch& batch) {
  LZ_CHECK(batch.shape() == shape_, "a batch of another shape");
  CountPadding(batch, &num_padding_);
  BatchTensors tensors;
  LZ_ASSIGN_OR_RETURN(tensors.observations,
                      LoadObservations(kObservations, batch.observations, batch.observation_bytes));
  const bool bootstraps = absl::c_any_of(batch.bootstrap_scales, [](float x) { return x != 0.0f; });
  if (bootstraps) {
    LZ_ASSIGN_OR_RETURN(tensors.bootstrap_observations,
                        LoadObservations(kBootstrapObservations, batch.bootstrap_observations,
                                         batch.bootstrap_observation_bytes));
  }
  const bool is_box = shape_.action_dim > 0;
  absl::Status status =
      is_box ? CopyIn(kActions, batch.action_values) : CopyIn(kActions, batch.actions);
  status.Update(CopyIn(kPadding, num_padding_));
  status.Update(CopyIn(kRewards, batch.rewards));
  status.Update(CopyIn(kRewardMask, batch.reward_mask));
  status.Update(CopyIn(kLatentMask, batch.latent_mask));
  status.Update(CopyIn(kPolicies, batch.policies));
  status.Update(CopyIn(kPolicyMask, batch.policy_mask));
  status.Update(is_box ? CopyIn(kLegalOrSampled, batch.sampled_actions)
                       : CopyIn(kLegalOrSampled, batch.legal_action_masks));
  status.Update(CopyIn(kValueMask, batch.value_mask));
  status.Update(CopyIn(kPartialReturns, batch.partial_returns));
  status.Update(CopyIn(kBootstrapScales, batch.bootstrap_scales));
  status.Update(CopyIn(kImportanceWeights, batch.importance_weights));
  if (shape_.has_chance) status.Update(CopyIn(kChanceOutcomes, batch.chance_outcomes));
  LZ_RETURN_IF_ERROR(status);
  if (shape_.has_chance) tensors.chance_outcomes = arrays_[kChanceOutcomes].tensor();
  tensors.actions = arrays_[kActions].tensor();
  if (shape_.num_context_steps > 0) tensors.num_padding = arrays_[kPadding].tensor();
  tensors.rewards = arrays_[kRewards].tensor();
  tensors.reward_mask = arrays_[kRewardMask].tensor();
  tensors.latent_mask = arrays_[kLatentMask].tensor();
  tensors.policies = arrays_[kPolicies].tensor();
  tensors.policy_mask = arrays_[kPolicyMask].tensor();
  if (is_box) {
    tensors.sampled_actions = arrays_[kLegalOrSampled].tensor();
  } else {
    tensors.illegal = arrays_[kLegalOrSampled].tensor() == 0;
  }
  tensors.value_mask = arrays_[kValueMask].tensor();
  tensors.partial_returns = arrays_[kPartialReturns].tensor();
  tensors.bootstrap_scales = arrays_[kBootstrapScales].tensor();
  tensors.importance_weights = arrays_[kImportanceWeights].tensor();
  tensors.num_context_steps = shape_.num_context_steps;
  return tensors;
}

}  // namespace lzero
