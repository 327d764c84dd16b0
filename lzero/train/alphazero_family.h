// AlphaZero behind ModelFamily: a network for policy and value, and a search that plays its steps
// in environments of its own. For environments that can be saved and draw no random numbers.
// Stateless.
#ifndef LZERO_TRAIN_ALPHAZERO_FAMILY_H_
#define LZERO_TRAIN_ALPHAZERO_FAMILY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/train/model_family.h"

namespace lzero {

class AlphaZeroFamily : public ModelFamily {
 public:
  std::vector<ConsistencyError> Errors(const ExperimentConfig& config,
                                       const EnvSpec& spec) const override;
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
  // Replay stores no states of the environment.
  bool CanReanalyze() const override { return false; }
  // None: a position is all that its network reads.
  int64_t UpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) const override;
  int64_t NumRootPastSteps(const ModelConfig& config) const override;
  std::string Describe(const ModelConfig& config) const override;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_ALPHAZERO_FAMILY_H_
