// Which runner a config means, from the config alone and before anything is allocated.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_RUNNER_CHOICE_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_RUNNER_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

struct RunnerChoice {
  Runner runner = Runner::kEager;  // never kAuto
  std::string reason;              // "auto chose packed: ..."; empty when the config names it
};

// For the searches of `search`; null: for a step alone, which has no search to record. Pure: the
// same configs, the same choice. InvalidArgument for the first of GraphErrors
// (config/consistency.h).
absl::StatusOr<RunnerChoice> ChooseRunner(const InferenceConfig& config,
                                          const SearchConfig* search);

// Says what `auto` chose. `owner`: the role that it is for; may be empty.
void LogChoice(const RunnerChoice& choice, const std::string& owner);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_RUNNER_CHOICE_H_
