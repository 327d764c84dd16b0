// Rules between fields: how they are written, and errors for settings that nothing reads because
// another setting chose something else. An example is search.gumbel_scale with search.policy puct:
// whoever sets it expects an effect. Pure functions.
#ifndef LZERO_CONFIG_CONSISTENCY_H_
#define LZERO_CONFIG_CONSISTENCY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// A broken rule between fields: the key paths that take part, the one to point at first, and the
// sentence.
struct ConsistencyError {
  std::vector<std::string> keys;  // "model.num_heads", "model.embed_dim"
  std::string message;
  // An error only where the first key was set no earlier than the second: in a file that extends
  // the other's, beside it or on the command line. Files of nearly all fields set nothing on
  // purpose.
  bool only_if_set_after = false;
};

// All broken rules between fields (num_heads divides embed_dim, latent norm fits latent loss, ...).
std::vector<ConsistencyError> ConsistencyErrors(const ExperimentConfig& config);

// Those between the settings of graphs alone, and between search.min_value and max_value: for who
// is given one section, and not a whole config.
std::vector<ConsistencyError> GraphErrors(const InferenceConfig& inference);
std::vector<ConsistencyError> ValueBoundErrors(const SearchConfig& search);

// Ok when there are none, else InvalidArgument "first key: message" of the first.
absl::Status FirstError(const std::vector<ConsistencyError>& errors);

// An error for each of `keys` that differs from its default, although nothing reads it under the
// value of the field `chooser`. The errors are `only_if_set_after`: a value that was set before the
// choice may stay.
std::vector<ConsistencyError> UnreadErrors(ExperimentConfig config,
                                           const std::vector<std::string>& keys,
                                           const std::string& chooser);

// All such errors whose chooser is a field other than model.family.
std::vector<ConsistencyError> UnreadSettings(const ExperimentConfig& config);

// Unless `holds`, adds an error of `keys` to `errors`; `message` is joined of its parts.
template <typename... Parts>
void Require(bool holds, std::vector<ConsistencyError>* errors, std::vector<std::string> keys,
             const Parts&... message) {
  if (!holds) errors->push_back({std::move(keys), absl::StrCat(message...)});
}

}  // namespace lzero

#endif  // LZERO_CONFIG_CONSISTENCY_H_
