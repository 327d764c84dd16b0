// Makes the folder that a run lives in and what is in it from the first second: config.yaml,
// config.resolved.yaml, manifest.json, log.txt, .lock; names the folders of its steps. Later
// content has its own writers (metrics, checkpoints, status). Called by the main thread; blocks on
// the disk.
#ifndef LZERO_RUN_RUN_FOLDER_H_
#define LZERO_RUN_RUN_FOLDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lzero/base/files.h"

namespace lzero {

// Name of the lock file in a run folder. It stays when the run is over; then it is empty.
inline constexpr const char* kRunLockFile = ".lock";

// The right to write into a run folder: one process at a time, held until the object or the process
// is gone, however it ends. Readers (eval, inspect) need none. Not for threads of one process.
class RunLock {
 public:
  // Locks the existing folder `run_dir` and leaves this process's id in its lock file. Does not
  // wait: FailedPrecondition, naming the process that has the folder, when it is taken; Unavailable
  // when the folder cannot be locked at all.
  static absl::StatusOr<RunLock> Acquire(const std::string& run_dir);

  RunLock(RunLock&&) = default;
  RunLock& operator=(RunLock&&) = default;
  ~RunLock();

 private:
  explicit RunLock(OpenFile file) : file_(std::move(file)) {}

  OpenFile file_;
};

// Whether a process holds the lock of `run_dir` now. Asking takes the lock for a moment where
// nobody has it, and leaves no trace.
bool IsRunInUse(const std::string& run_dir);

struct RunDescription {
  std::string env_id;
  std::string name;  // of the experiment; characters that are no part of file names become '-'
  int64_t seed = 0;
  std::string config_path;    // the config file, absolute
  std::string config_text;    // what is in it
  std::string resolved_text;  // every setting in force
  std::string version;        // of lzero
  std::string git_commit;     // "" when not known
  std::vector<std::string> command_line;
  absl::Time start_time;
};

// A run folder that this process may write into.
struct RunFolder {
  std::string path;
  RunLock lock;
};

// Text of config.yaml: the given text below a comment. The comment names the original file and the
// file with every setting in force, since a relative `extends` leads nowhere from the run folder.
std::string ConfigCopyText(const std::string& config_path, const std::string& config_text);

// Makes `root`/<env>/<name>-s<seed>-<utc> (with -2, -3 .. behind it when that exists) and its
// files, and locks it. From now on the log goes to log.txt in it, too. Unavailable when the folder
// or a file cannot be made.
absl::StatusOr<RunFolder> CreateRunFolder(const std::string& root,
                                          const RunDescription& description);

// The same in the folder `run_dir` that the user named. FailedPrecondition when it exists and is
// not empty, or another process is at work in it. `program` is what the user types to run lzero.
absl::StatusOr<RunFolder> CreateRunFolderAt(const std::string& run_dir,
                                            const RunDescription& description,
                                            const std::string& program);

// Whether CreateRunFolderAt would take `run_dir` as it is now, with the same errors; makes nothing.
// Does not check what the machine may refuse.
absl::Status CheckRunFolderAt(const std::string& run_dir, const std::string& program);

// Checks that `path` is the folder of a run (it has a manifest and a resolved config), locks it and
// continues its log. NotFound names what is missing; FailedPrecondition when another process is at
// work in it.
absl::StatusOr<RunFolder> OpenRunFolder(const std::string& path);

// Folders of a run that are named after the env steps they belong to: step_000010000.
std::string StepName(int64_t env_steps);

// The env steps in a name that StepName made, or -1.
int64_t StepOf(absl::string_view name);

// For a run that goes back to `env_steps`: the later step folders in `folder` (which may be
// missing) belong to a past that is undone and become step_N.aside, replacing an older folder of
// that name. Returns the new paths, in the order of the steps.
absl::StatusOr<std::vector<std::string>> SetLaterStepsAside(const std::string& folder,
                                                            int64_t env_steps);

}  // namespace lzero

#endif  // LZERO_RUN_RUN_FOLDER_H_
