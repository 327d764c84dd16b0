// Folders of a run that are named after the env steps they belong to: step_000010000.
#ifndef LZERO_RUN_STEP_FOLDER_H_
#define LZERO_RUN_STEP_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

std::string StepName(int64_t env_steps);

// The env steps in a name that StepName made, or -1.
int64_t StepOf(absl::string_view name);

// For a run that goes back to `env_steps`: the later step folders in `folder` (which may be
// missing) belong to a past that is undone and become step_N.aside, replacing an older folder of
// that name. Returns the new paths, in the order of the steps.
absl::StatusOr<std::vector<std::string>> SetLaterStepsAside(const std::string& folder,
                                                            int64_t env_steps);

}  // namespace lzero

#endif  // LZERO_RUN_STEP_FOLDER_H_
