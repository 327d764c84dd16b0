// What family unizero asks of the settings of its model, beside what the config asks of every
// family. Pure function, any thread.
#ifndef LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_
#define LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_

#include <vector>

#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Errors of the heads of the transformer, of a context that cuts a step of two tokens, and of a
// latent loss that it lacks.
std::vector<ConsistencyError> UniZeroModelErrors(const ModelConfig& model);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_
