// What family unizero asks of the settings of its model, beside what the config asks of every
// family. Pure function, any thread.
#ifndef LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_
#define LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_

#include <vector>

#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Heads of the transformer, steps of two tokens, its latent losses.
std::vector<ConsistencyError> UniZeroModelErrors(const ModelConfig& model);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RULES_UNIZERO_RULES_H_
