// Stochastic MuZero behind ModelFamily: MuZero with chance nodes, for environments whose chance
// outcomes can be told apart. Stateless.
#ifndef LZERO_TRAIN_STOCHASTIC_MUZERO_FAMILY_H_
#define LZERO_TRAIN_STOCHASTIC_MUZERO_FAMILY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/train/muzero_family.h"

namespace lzero {

class StochasticMuZeroFamily : public MuZeroFamily {
 public:
  // Those of MuZero; an environment that tells no chance outcomes; sampled actions.
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
  int NumChanceOutcomes(const EnvSpec& spec) const override { return spec.num_chance_outcomes; }
  std::string Describe(const ModelConfig& config) const override;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_STOCHASTIC_MUZERO_FAMILY_H_
