// The rules between fields as a status, for code that stops at the first broken one. (The rules
// themselves: ConsistencyErrors, declared with the fields.) Pure function.
#ifndef LZERO_CONFIG_CONSISTENCY_H_
#define LZERO_CONFIG_CONSISTENCY_H_

#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Ok when there are none, else InvalidArgument "first key: message" of the first.
absl::Status FirstError(const std::vector<ConsistencyError>& errors);

// Unless `holds`, adds to `errors` that `message` is wrong with `keys`.
void Require(bool holds, std::vector<ConsistencyError>* errors, std::vector<std::string> keys,
             std::string message);

}  // namespace lzero

#endif  // LZERO_CONFIG_CONSISTENCY_H_
