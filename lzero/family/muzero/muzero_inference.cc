#include "lzero/family/muzero/muzero_inference.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::unique_ptr<MuZeroInference>> MuZeroInference::Create(
    const EngineOptions& options) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<MuZeroInference>> {
    LZ_ASSIGN_OR_RETURN(EngineDevice device, MakeEngineDevice(options.inference.device));
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<MuZeroNetwork> network,
        MuZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    LZ_ASSIGN_OR_RETURN(Buffers buffers, MakeBuffers(options, device.device()));
    return absl::WrapUnique(
        new MuZeroInference(options, std::move(device), std::move(network), std::move(buffers)));
  });
}

absl::StatusOr<MuZeroInference::Buffers> MuZeroInference::MakeBuffers(const EngineOptions& options,
                                                                      at::Device device) {
  const int64_t num_rows = options.num_envs, dim = options.shape.action_dim;
  const auto rows = [&](const char* name) {
    return Staging::Create(name, {num_rows}, at::kLong, device);
  };
  LZ_ASSIGN_OR_RETURN(Staging observations, MakeObservations(options, device));
  LZ_ASSIGN_OR_RETURN(
      Staging actions,
      dim > 0 ? Staging::Create("actions of a step", {num_rows, dim}, at::kFloat, device)
              : rows("actions of a step"));
  LZ_ASSIGN_OR_RETURN(Staging parents, rows("parents of a step"));
  LZ_ASSIGN_OR_RETURN(Staging children, rows("children of a step"));
  return Buffers{std::move(observations), std::move(actions), std::move(parents),
                 std::move(children)};
}

absl::StatusOr<int64_t> MuZeroInference::PlannedBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters,
                      MuZeroNetwork::CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const LatentParts parts,
                      LatentParts::Create(options.model, options.shape.observation_shape));
  const int64_t dim = options.shape.action_dim;
  const int64_t action =
      dim > 0 ? dim * static_cast<int64_t>(sizeof(float)) : static_cast<int64_t>(sizeof(int64_t));
  return BytesFor(options, num_parameters, parts.latent_size()) +
         options.num_envs * (action + 2 * static_cast<int64_t>(sizeof(int64_t)));
}

MuZeroInference::MuZeroInference(const EngineOptions& options, EngineDevice device,
                                 std::shared_ptr<MuZeroNetwork> network, Buffers buffers)
    : LatentEngine(options, std::move(device), network, network->latent_size(),
                   std::move(buffers.observations)),
      model_(network),
      actions_(std::move(buffers.actions)),
      parents_(std::move(buffers.parents)),
      children_(std::move(buffers.children)) {}

MuZeroInference::~MuZeroInference() = default;

absl::Status MuZeroInference::StageRows(absl::Span<const NodeId> nodes, Staging* staging) {
  rows_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) rows_.push_back(RowOf(i, nodes[i]));
  return staging->CopyIn(absl::MakeConstSpan(rows_));
}

absl::Status MuZeroInference::ReadPredictions(const at::Tensor& latents, absl::Span<float> values,
                                              absl::Span<float> policies) {
  LZ_RETURN_IF_ERROR(CopyOut("values", model_->Decode(model_->ValueLogits(latents)), values));
  return CopyOut("policies", model_->PolicyLogits(latents), policies);
}

absl::Status MuZeroInference::InitialInference(absl::Span<const Root> roots,
                                               absl::Span<float> prior_logits,
                                               absl::Span<float> value) {
  const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
  {
    const ScopedTimer timer(&network_time_);
    LZ_RETURN_IF_ERROR(OnDevice([&]() -> absl::Status {
      LZ_ASSIGN_OR_RETURN(const at::Tensor observations, StageObservations(roots));
      const at::Tensor states = model_->Represent(observations);
      KeepRoots(states);
      return ReadPredictions(states, value, policies);
    }));
  }
  FinishRoots(roots, policies, prior_logits);
  return absl::OkStatus();
}

absl::Status MuZeroInference::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  LZ_CHECK(parents.size() == num_roots(), parents.size(), " rows for ", num_roots(), " roots");
  const absl::Span<float> policies = PolicyOutputs(parents.size(), prior_logits);
  LZ_RETURN_IF_ERROR(OnDevice([&]() -> absl::Status {
    {
      // Actions and node rows to the device.
      const ScopedTimer timer(&copy_time_);
      LZ_RETURN_IF_ERROR(StageActions(parents, actions, &actions_));
      LZ_RETURN_IF_ERROR(StageRows(parents, &parents_));
      LZ_RETURN_IF_ERROR(StageRows(children, &children_));
    }
    // Step the latents and keep those of the children.
    const ScopedTimer timer(&network_time_);
    const auto first_rows = [&](const Staging& staging) {
      return staging.tensor().narrow(0, 0, static_cast<int64_t>(parents.size()));
    };
    const at::Tensor before = latents().index_select(0, first_rows(parents_));
    const at::Tensor states = model_->NextLatents(before, first_rows(actions_));
    latents().index_copy_(0, first_rows(children_), states);
    LZ_RETURN_IF_ERROR(CopyOut("rewards", model_->Decode(model_->RewardLogits(states)), rewards));
    return ReadPredictions(states, values, policies);
  }));
  // Prior logits and discounts.
  FinishNodes(children, policies, prior_logits);
  std::fill(discounts.begin(), discounts.end(), static_cast<float>(SignedDiscount()));
  return absl::OkStatus();
}

}  // namespace lzero
