// This program once more, as a child that trains one run: in a process group of its own, so that
// Ctrl-C at the terminal reaches it only through Interrupt. It gets SIGTERM when this process ends,
// however that happens. (lzero/env/python/child_process.h is for helpers that may be killed at any
// time; a run writes a checkpoint first.) One thread, which must live as long as the child.
#ifndef LZERO_TOOLS_VERBS_SWEEP_RUN_PROCESS_H_
#define LZERO_TOOLS_VERBS_SWEEP_RUN_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace lzero {

class RunProcess {
 public:
  // Starts `program` with `words`, the first of which is how it calls itself. Input is empty, all
  // output is appended to the file `log_path`. Unavailable when that cannot be opened or no process
  // can be made.
  static absl::StatusOr<RunProcess> Start(const std::string& program,
                                          const std::vector<std::string>& words,
                                          const std::string& log_path);
  RunProcess(RunProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  RunProcess& operator=(RunProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  // Kills it if it still runs, and waits for its end.
  ~RunProcess();

  pid_t pid() const { return pid_; }
  // Its exit code once it has ended, 128 + N after signal N; nullopt while it runs. Not to be asked
  // again after that. Does not wait.
  std::optional<int> Poll();
  // Asks it to end: SIGINT.
  void Interrupt() const;

 private:
  explicit RunProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_;  // 0: has ended, or moved from
};

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_RUN_PROCESS_H_
