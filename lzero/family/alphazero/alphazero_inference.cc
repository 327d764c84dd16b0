#include "lzero/family/alphazero/alphazero_inference.h"

#include <string>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "lzero/family/eager_device.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/engine_network.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

class EagerAlphaZeroEngine : public AlphaZeroEngine {
 public:
  EagerAlphaZeroEngine(const EngineOptions& options, EngineDevice engine_device,
                       std::shared_ptr<AlphaZeroNetwork> network,
                       std::unique_ptr<EnvSimulator> simulator)
      : AlphaZeroEngine(options, std::move(simulator)),
        network_(std::move(engine_device), network),
        model_(*network),
        observations_(Zeros("observations of positions",
                            {options.num_envs, options.shape.observation_size()})),
        policies_(
            Zeros("prior logits of positions", {options.num_envs, options.shape.num_actions})),
        values_(Zeros("values of positions", {options.num_envs})) {}

  ~EagerAlphaZeroEngine() override {
    network_.Unload([this] {
      for (Staging* staging : {&observations_, &policies_, &values_}) {
        *staging = Staging::Wrap("", at::empty({0}));
      }
    });
  }

  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override {
    return network_.CopyFrom(source, [] {});
  }
  std::string runner_name() const override { return "eager"; }

 private:
  Staging Zeros(const char* name, at::IntArrayRef shape) const {
    return Staging::Wrap(name, at::zeros(shape, at::TensorOptions().device(model_.device())));
  }

  absl::Status EvaluatePositions(const std::vector<float>& observations,
                                 std::vector<float>* policies,
                                 std::vector<float>* values) override {
    return network_.device().OnStream([&] {
      return CatchTorch([&]() -> absl::Status {
        const c10::InferenceMode inference;
        const auto first_rows = [&](const Staging& staging) {
          return staging.tensor().narrow(0, 0, static_cast<int64_t>(values->size()));
        };
        LZ_RETURN_IF_ERROR(observations_.CopyInAsync(absl::MakeConstSpan(observations)));
        const at::Tensor latents = model_.Encode(first_rows(observations_));
        first_rows(policies_).copy_(model_.PolicyLogits(latents));
        first_rows(values_).copy_(model_.DecodeValues(model_.ValueLogits(latents)));
        LZ_RETURN_IF_ERROR(policies_.CopyOut(absl::MakeSpan(*policies)));
        return values_.CopyOut(absl::MakeSpan(*values));
      });
    });
  }

  EngineNetwork network_;  // destroyed last: its device owns the stream of the work
  const AlphaZeroNetwork& model_;
  Staging observations_;  // [num_envs, observation size]
  Staging policies_;      // [num_envs, A] logits
  Staging values_;        // [num_envs]
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeAlphaZeroEngine(const EngineOptions& options,
                                                                     const EnvFactory& make_env) {
  using Made = absl::StatusOr<std::unique_ptr<InferenceEngine>>;
  LZ_ASSIGN_OR_RETURN(const EngineDevice made, MakeEagerDevice(options));
  return MakeOnDevice(made, [&](const EngineDevice& device) -> Made {
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<AlphaZeroNetwork> network,
        AlphaZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    LZ_ASSIGN_OR_RETURN(auto simulator, MakeSimulator(options, make_env));
    return std::make_unique<EagerAlphaZeroEngine>(options, device, std::move(network),
                                                  std::move(simulator));
  });
}

absl::StatusOr<int64_t> AlphaZeroEngineBytes(const EngineOptions& options,
                                             const EnvFactory& make_env) {
  LZ_ASSIGN_OR_RETURN(const auto counted, AlphaZeroNetwork::Create(options.model, options.shape,
                                                                   /*seed=*/0, at::kMeta));
  LZ_ASSIGN_OR_RETURN(const int64_t state_bytes, AlphaZeroStateBytes(options, make_env));
  // Staged on the device and on the host.
  const int64_t row_size = options.shape.observation_size() + options.shape.num_actions + 1;
  const int64_t num_floats = counted->num_parameters() + 2 * options.num_envs * row_size;
  return num_floats * static_cast<int64_t>(sizeof(float)) + state_bytes +
         PolicyEngine::SamplerBytes(options);
}

const TensorFamily& AlphaZeroTensorFamily() {
  static const TensorFamily kFamily = {.make_network = AlphaZeroNetwork::Create,
                                       .engine_bytes = AlphaZeroEngineBytes,
                                       .make_engine = MakeAlphaZeroEngine};
  return kFamily;
}

}  // namespace lzero
