// The right to write into a run folder: one process at a time, held until the object or the process
// is gone, however it ends. Readers (eval, inspect) need none. Not for threads of one process.
#ifndef LZERO_RUN_RUN_LOCK_H_
#define LZERO_RUN_RUN_LOCK_H_

#include <string>

#include "absl/status/statusor.h"

namespace lzero {

// Name of the lock file in a run folder. It stays when the run is over; then it is empty.
inline constexpr const char* kRunLockFile = ".lock";

class RunLock {
 public:
  // Locks the existing folder `run_dir` and leaves this process's id in its lock file. Does not
  // wait: FailedPrecondition, naming the process that has the folder, when it is taken; Unavailable
  // when the folder cannot be locked at all.
  static absl::StatusOr<RunLock> Acquire(const std::string& run_dir);

  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  explicit RunLock(int file) : file_(file) {}

  int file_ = -1;  // -1: moved from
};

}  // namespace lzero

#endif  // LZERO_RUN_RUN_LOCK_H_
