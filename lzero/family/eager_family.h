// What the families have in common whose network runs eager alone and sees one observation: the
// rules that follow. Pure function; any thread.
#ifndef LZERO_FAMILY_EAGER_FAMILY_H_
#define LZERO_FAMILY_EAGER_FAMILY_H_

#include <vector>

#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Settings of such a family, named by the config, that only family unizero has.
std::vector<ConsistencyError> EagerFamilyErrors(const ExperimentConfig& config);

}  // namespace lzero

#endif  // LZERO_FAMILY_EAGER_FAMILY_H_
