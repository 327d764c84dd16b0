// The right to write into a run folder: one process at a time, held until the object or the process
// is gone, however it ends. Readers (eval, inspect) need none. Not for threads of one process.
#ifndef LZERO_RUN_RUN_LOCK_H_
#define LZERO_RUN_RUN_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lzero/base/files.h"

namespace lzero {

// Name of the lock file in a run folder. It stays when the run is over; then it is empty.
inline constexpr const char* kRunLockFile = ".lock";

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

}  // namespace lzero

#endif  // LZERO_RUN_RUN_LOCK_H_
