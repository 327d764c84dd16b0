// What a failed check of the conformance suite means for training: which failures must be mended
// first, which ones only cost something, and why. Pure functions, any thread.
#ifndef LZERO_ENV_CHECK_CONFORMANCE_VERDICT_H_
#define LZERO_ENV_CHECK_CONFORMANCE_VERDICT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lzero/env/check/conformance.h"

namespace lzero {

// How the detail of step_after_end_refused begins where it was skipped since no episode ended.
inline constexpr char kNoEnd[] = "no end within ";

// The check `name` with what came of it: the message of an error and what it means for training, or
// `note`. A name that is no check is our bug.
ConformanceCheck MakeCheck(absl::string_view name, const absl::Status& status,
                           const std::string& note = "");

// One line about the environment `id` after all checks: "x conforms", or how many failed and
// whether it may be trained.
std::string VerdictText(const std::string& id, const std::vector<ConformanceCheck>& checks);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_CONFORMANCE_VERDICT_H_
