// Ctrl-C, SIGTERM and a closed terminal (SIGHUP) as a flag that long-running verbs poll. A second
// Ctrl-C or SIGTERM ends the program at once with exit code 130. Both are told on stderr. Whatever
// comes within a second of the first is the same wish: timeout(1) and batch systems signal a
// process and then its group.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_INTERRUPT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_INTERRUPT_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"

namespace lzero {

// What is said at the signals; string literals.
struct InterruptTexts {
  const char* first;
  const char* second;
};

inline constexpr InterruptTexts kTrainingInterrupt = {
    "interrupted: finishing this step (again to stop at once)",
    "stopped at once, without a checkpoint: resume goes on from the last one, or from the start"};
inline constexpr InterruptTexts kEvaluationInterrupt = {
    "interrupted: the evaluation ends here, without a report (again to stop at once)",
    "stopped at once"};
inline constexpr InterruptTexts kMatchInterrupt = {
    "interrupted: the match ends here, with the score so far (again to stop at once)",
    "stopped at once, nothing is reported"};
inline constexpr InterruptTexts kSweepInterrupt = {
    "interrupted: the runs at work write their checkpoints (again to stop at once, without them)",
    "stopped at once, without checkpoints: the same command with the same --out goes on from the "
    "last "
    "ones, or from the start"};

inline constexpr InterruptTexts kReportInterrupt = {
    "interrupted: no report is written (again to stop at once)", "stopped at once"};

// Installs the handlers and returns the flag, false until the first signal. `texts` live as long as
// the program.
const std::atomic<bool>* WatchInterrupts(const InterruptTexts& texts);

// The run in `run_dir` will be marked as stopped when a second signal, or the crash of a plugin,
// which its log.txt tells then, ends the program.
void MarkRunWhenStopped(const std::string& run_dir);

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitThreshold = 3;
inline constexpr int kExitInterrupted = 130;

// The exit code of a verb that fails with `status`: kExitUsage for a wrong command, such as one
// that names no folder for its file.
inline int ExitCodeOf(const absl::Status& status) {
  const bool is_usage = absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
  return is_usage ? kExitUsage : kExitFailure;
}

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_INTERRUPT_H_
