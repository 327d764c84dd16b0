// UniZero behind ModelFamily: a transformer world model that is searched through cached contexts.
// Stateless.
#ifndef LZERO_TRAIN_UNIZERO_FAMILY_H_
#define LZERO_TRAIN_UNIZERO_FAMILY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/train/model_family.h"

namespace lzero {

class UniZeroFamily : public ModelFamily {
 public:
  std::vector<ConsistencyError> ModelErrors(const ModelConfig& config) const override;
  std::vector<std::string> UnreadFields(const ModelConfig& config) const override;
  absl::StatusOr<int64_t> CountParameters(const ModelConfig& config,
                                          const WorldModelShape& shape) const override;
  absl::StatusOr<std::shared_ptr<Network>> MakeNetwork(const ModelConfig& config,
                                                       const WorldModelShape& shape, uint64_t seed,
                                                       at::Device device) const override;
  absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options,
                                      const EnvFactory& make_env) const override;
  absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(
      const EngineOptions& options, const EnvFactory& make_env) const override;
  int64_t UpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) const override;
  int64_t NumRootPastSteps(const ModelConfig& config) const override;
  std::string Describe(const ModelConfig& config) const override;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UNIZERO_FAMILY_H_
