// Small things that several verbs share: error output and the registry of all environments.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_VERB_SUPPORT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_VERB_SUPPORT_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "envs/register_all.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/text/printable.h"
#include "lzero/env/env_registry.h"
#include "lzero/run/progress.h"

namespace lzero {

// Prints "error: message" to stderr, fit for a terminal, and returns `exit_code`.
inline int PrintError(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "error: %s\n", PrintableMessage(status.message()).c_str());
  return exit_code;
}

// What the user types to run the program: "tools/run.sh" when that script started it, else "lzero".
inline std::string ProgramCommand() {
  const char* command = std::getenv("LZERO_COMMAND");
  return command != nullptr ? command : "lzero";
}

// Says when a line about progress is due, as in training.
class ProgressClock {
 public:
  ProgressClock() { progress_.Start({}, MonotonicSeconds()); }
  bool IsDue() {
    const double now = MonotonicSeconds();
    if (!progress_.IsDue(now)) return false;
    progress_.Mark({}, now);
    return true;
  }

 private:
  Progress progress_{ProgressSeconds()};
};

// Said wherever a return of self-play is shown.
inline constexpr const char* kNoMeasureOfStrength = "which is no measure of strength";

// The environments of this build.
inline EnvRegistry MakeRegistry() {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  return registry;
}

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_VERB_SUPPORT_H_
