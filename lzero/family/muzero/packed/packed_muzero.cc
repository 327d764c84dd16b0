#include "lzero/family/muzero/packed/packed_muzero.h"

#include <algorithm>

#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/inference/packed_latent_engine.h"

namespace lzero {
namespace {

class PackedMuZero : public PackedLatentEngine {
 public:
  explicit PackedMuZero(const EngineOptions& options)
      : PackedLatentEngine(options, LatentModelParts(options)) {}

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
    {
      const ScopedTimer timer(&network_time_);
      EncodeRoots(roots, {{kPolicyHead, policies.data()}, {kValueHead, value.data()}});
    }
    FinishRoots(roots, policies, prior_logits);
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const absl::Span<float> policies = PolicyOutputs(parents.size(), prior_logits);
    {
      const ScopedTimer timer(&network_time_);
      ClearRows();
      for (size_t i = 0; i < parents.size(); ++i) AddRow(i, parents[i], children[i]);
      const ChosenActions chosen = ActionsOf(parents, actions);
      RunStep(kActionStep,
              {chosen.values.empty() ? chosen.indices.data() : nullptr,
               chosen.values.empty() ? nullptr : chosen.values.data()},
              {{kRewardHead, rewards.data()},
               {kPolicyHead, policies.data()},
               {kValueHead, values.data()}});
    }
    FinishNodes(children, policies, prior_logits);
    std::fill(discounts.begin(), discounts.end(), static_cast<float>(SignedDiscount()));
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedMuZero(const EngineOptions& options) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  return std::make_unique<PackedMuZero>(options);
}

absl::StatusOr<int64_t> PackedMuZeroBytes(const EngineOptions& options) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  return PackedLatentEngine::Bytes(options, LatentModelParts(options));
}

}  // namespace lzero
