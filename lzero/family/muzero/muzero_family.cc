#include "lzero/family/muzero/muzero_family.h"

#include "lzero/family/latent_family.h"
#include "lzero/family/muzero/muzero_inference.h"
#include "lzero/family/muzero/muzero_network.h"

namespace lzero {
namespace {

class MuZeroFamilyImplementation : public LatentFamily {
 public:
  absl::StatusOr<int64_t> CountParameters(const ModelConfig& config,
                                          const WorldModelShape& shape) const override {
    return MuZeroNetwork::CountParameters(config, shape);
  }
  absl::StatusOr<std::shared_ptr<Network>> MakeNetwork(const ModelConfig& config,
                                                       const WorldModelShape& shape, uint64_t seed,
                                                       at::Device device) const override {
    return MuZeroNetwork::Create(config, shape, seed, device);
  }
  absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options,
                                      const EnvFactory& /*make_env*/) const override {
    return MuZeroInference::PlannedBytes(options);
  }
  absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(
      const EngineOptions& options, const EnvFactory& /*make_env*/) const override {
    return MuZeroInference::Create(options);
  }
};

}  // namespace

const ModelFamily& MuZeroFamily() {
  static const MuZeroFamilyImplementation family;
  return family;
}

}  // namespace lzero
