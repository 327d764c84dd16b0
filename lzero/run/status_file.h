// status.json: where a run stands now, for those who watch it from outside. Replaced
// in one step, so a reader never sees half of it. Not a checkpoint. One writer, any readers.
#ifndef LZERO_RUN_STATUS_FILE_H_
#define LZERO_RUN_STATUS_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace lzero {

// kStopped: at once, without a checkpoint. A process that was killed leaves kRunning.
enum class RunState { kRunning, kFinished, kInterrupted, kFailed, kStopped };

absl::string_view RunStateName(RunState state);  // "running", ...

struct RunStatus {
  RunState state = RunState::kRunning;
  int64_t env_steps = 0;
  int64_t updates = 0;
  std::optional<double> eval_return;      // mean of the last evaluation
  std::optional<int64_t> eval_env_steps;  // when it was made
  std::optional<double> eta_seconds;      // null: not known, or not running
  int64_t process_id = 0;
  absl::Time updated_time;  // stored in whole milliseconds
  std::string message;      // why it failed or stopped; may be empty
};

// Replaces `run_dir`/status.json.
absl::Status WriteStatusFile(const std::string& run_dir, const RunStatus& status);

// Makes "stopped" of the state "running" in the file status.json at `path`, in place. Safe in a
// handler of signals; says nothing of errors.
void MarkStopped(const char* path);

// NotFound when there is none; DataLoss, naming file and field, when it is damaged.
absl::StatusOr<RunStatus> ReadStatusFile(const std::string& run_dir);

}  // namespace lzero

#endif  // LZERO_RUN_STATUS_FILE_H_
