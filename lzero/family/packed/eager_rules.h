// What the families have in common whose network records no graphs and sees one observation: the
// rules that follow, and what is told of it. Any thread.
#ifndef LZERO_FAMILY_PACKED_EAGER_RULES_H_
#define LZERO_FAMILY_PACKED_EAGER_RULES_H_

#include <vector>

#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"

namespace lzero {

// Settings of such a family, named by the config, that only family unizero has, and policies read
// cell by cell where actions have no cells.
std::vector<ConsistencyError> EagerFamilyErrors(const ExperimentConfig& config,
                                                const EnvSpec& spec);

// Requires that SimNorm's groups divide the latent state, where the encoder fits; `has_planes`:
// that of boards and images is planes.
void RequireWholeGroups(const ExperimentConfig& config, const EnvSpec& spec, bool has_planes,
                        std::vector<ConsistencyError>* errors);

// Whether an engine of any family runs packed, as it does on the CPU unless told otherwise.
bool RunsPacked(const InferenceConfig& inference);

}  // namespace lzero

#endif  // LZERO_FAMILY_PACKED_EAGER_RULES_H_
