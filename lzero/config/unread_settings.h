// Settings that nothing reads because another setting chose something else, such as
// search.gumbel_scale with search.policy puct: someone who sets one expects an effect. Pure
// functions.
#ifndef LZERO_CONFIG_UNREAD_SETTINGS_H_
#define LZERO_CONFIG_UNREAD_SETTINGS_H_

#include <string>
#include <vector>

#include "lzero/config/experiment_config.h"

namespace lzero {

// An error for each of `keys` that differs from its default, although nothing reads it under the
// value of the field `chooser`. The errors are `only_if_set_after`: a value that was set before the
// choice may stay.
std::vector<ConsistencyError> UnreadErrors(const ExperimentConfig& config,
                                           const std::vector<std::string>& keys,
                                           const std::string& chooser);

// All of those that follow from fields other than model.family.
std::vector<ConsistencyError> UnreadSettings(const ExperimentConfig& config);

}  // namespace lzero

#endif  // LZERO_CONFIG_UNREAD_SETTINGS_H_
