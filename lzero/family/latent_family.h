// What families of recurrent latent models share (MuZero, Stochastic MuZero): rules, sizes, words.
// Stateless.
#ifndef LZERO_FAMILY_LATENT_FAMILY_H_
#define LZERO_FAMILY_LATENT_FAMILY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/family/model_family.h"

namespace lzero {

class LatentFamily : public ModelFamily {
 public:
  // Context steps, which a latent state cannot take in; runners that it does not have; SimNorm
  // groups that do not divide the latent state.
  std::vector<ConsistencyError> Errors(const ExperimentConfig& config,
                                       const EnvSpec& spec) const override;
  std::vector<std::string> UnreadFields(const ModelConfig& config) const override;
  int64_t UpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) const override;
  int64_t NumRootPastSteps(const ModelConfig& config) const override;
  std::string Describe(const ModelConfig& config) const override;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_LATENT_FAMILY_H_
