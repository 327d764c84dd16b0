#include "lzero/family/muzero/muzero_inference.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/eager_device.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/latent_engine.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

class MuZeroEngine : public LatentEngine {
 public:
  MuZeroEngine(const EngineOptions& options, EngineDevice engine_device,
               std::shared_ptr<MuZeroNetwork> network)
      : LatentEngine(options, std::move(engine_device), network),
        model_(*network),
        actions_(options.shape.action_dim > 0
                     ? Rows("actions of a step", {options.num_envs, options.shape.action_dim},
                            at::kFloat)
                     : Rows("actions of a step", {options.num_envs}, at::kLong)),
        parents_(Rows("parents of a step", {options.num_envs}, at::kLong)),
        children_(Rows("children of a step", {options.num_envs}, at::kLong)) {}

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
    {
      const ScopedTimer timer(&network_time_);
      LZ_RETURN_IF_ERROR(OnDevice([&]() -> absl::Status {
        LZ_ASSIGN_OR_RETURN(const at::Tensor observations, StageObservations(roots));
        const at::Tensor states = model_.Represent(observations);
        KeepRoots(states);
        return ReadPredictions(states, value, policies);
      }));
    }
    FinishRoots(roots, policies, prior_logits);
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    LZ_CHECK(parents.size() == num_roots(), parents.size(), " rows for ", num_roots(), " roots");
    const absl::Span<float> policies = PolicyOutputs(parents.size(), prior_logits);
    LZ_RETURN_IF_ERROR(OnDevice([&]() -> absl::Status {
      {
        // Actions and node rows to the device.
        const ScopedTimer timer(&copy_time_);
        LZ_RETURN_IF_ERROR(CopyActions(ActionsOf(parents, actions), &actions_));
        LZ_RETURN_IF_ERROR(StageRows(parents, &parents_));
        LZ_RETURN_IF_ERROR(StageRows(children, &children_));
      }
      // Step the latents and keep those of the children.
      const ScopedTimer timer(&network_time_);
      const auto first_rows = [&](const Staging& staging) {
        return staging.tensor().narrow(0, 0, static_cast<int64_t>(parents.size()));
      };
      const at::Tensor before = latents().index_select(0, first_rows(parents_));
      const at::Tensor states = model_.NextLatents(before, first_rows(actions_));
      latents().index_copy_(0, first_rows(children_), states);
      LZ_RETURN_IF_ERROR(
          CopyOut("rewards", model_.DecodeRewards(model_.RewardLogits(states)), rewards));
      return ReadPredictions(states, values, policies);
    }));
    // Prior logits and discounts.
    FinishNodes(children, policies, prior_logits);
    std::fill(discounts.begin(), discounts.end(), static_cast<float>(SignedDiscount()));
    return absl::OkStatus();
  }

 private:
  Staging Rows(const char* name, at::IntArrayRef shape, at::ScalarType type) const {
    return Staging::Wrap(name, at::zeros(shape, latents().options().dtype(type)));
  }

  absl::Status StageRows(absl::Span<const NodeId> nodes, Staging* staging) {
    host_rows_.clear();
    for (size_t i = 0; i < nodes.size(); ++i) host_rows_.push_back(RowOf(i, nodes[i]));
    return staging->CopyInAsync(absl::MakeConstSpan(host_rows_));
  }

  // Value [B] and policy [B, policy size] of latents [B, S] to the host.
  absl::Status ReadPredictions(const at::Tensor& latents, absl::Span<float> values,
                               absl::Span<float> policies) {
    LZ_RETURN_IF_ERROR(CopyOut("values", model_.DecodeValues(model_.ValueLogits(latents)), values));
    return CopyOut("policies", model_.PolicyLogits(latents), policies);
  }

  const MuZeroNetwork& model_;
  // Between host and device. Axes: M = num_envs rows.
  Staging actions_;                 // [M] int64; box: [M, D] float32
  Staging parents_, children_;      // [M] int64, rows of latents()
  std::vector<int64_t> host_rows_;  // scratch
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeMuZeroEngine(const EngineOptions& options) {
  using Made = absl::StatusOr<std::unique_ptr<InferenceEngine>>;
  LZ_ASSIGN_OR_RETURN(const EngineDevice made, MakeEagerDevice(options));
  return MakeOnDevice(made, [&](const EngineDevice& device) -> Made {
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<MuZeroNetwork> network,
        MuZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    return std::make_unique<MuZeroEngine>(options, device, std::move(network));
  });
}

absl::StatusOr<int64_t> MuZeroEngineBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const auto counted,
                      MuZeroNetwork::Create(options.model, options.shape, /*seed=*/0, at::kMeta));
  const int64_t dim = options.shape.action_dim;
  const int64_t action =
      dim > 0 ? dim * static_cast<int64_t>(sizeof(float)) : static_cast<int64_t>(sizeof(int64_t));
  return LatentEngine::Bytes(options, *counted) +
         options.num_envs * (action + 2 * static_cast<int64_t>(sizeof(int64_t)));
}

const TensorFamily& MuZeroTensorFamily() {
  static const TensorFamily kFamily = {
      .make_network = MuZeroNetwork::Create,
      .engine_bytes = [](const auto& options, auto&) { return MuZeroEngineBytes(options); },
      .make_engine = [](const auto& options, auto&) { return MakeMuZeroEngine(options); }};
  return kFamily;
}

}  // namespace lzero
