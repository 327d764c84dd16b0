// One worker process: a Python interpreter that runs some environments of one kind. Requests are
// written into memory(), announced by Send and waited for by Wait; everything else goes over a
// socket. After an error that says Unavailable the process has ended and nothing more can be asked
// of it. Knows nothing of episodes (worker_group.h). One thread at a time.
#ifndef LZERO_ENV_PYTHON_WORKER_PROCESS_H_
#define LZERO_ENV_PYTHON_WORKER_PROCESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/picture/image.h"
#include "lzero/env/python/child_process.h"
#include "lzero/env/python/message_socket.h"
#include "lzero/env/python/worker_memory.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {

struct WorkerCommand {
  std::string python;
  WorkerTask task;
  double step_timeout_s = 60.0;
  friend bool operator==(const WorkerCommand&, const WorkerCommand&) = default;
};

class WorkerProcess {
 public:
  // Starts the interpreter and makes one environment to learn what it is. InvalidArgument and
  // FailedPrecondition (a package is missing; says how to install it) are the user's to mend.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const WorkerCommand& command);
  // Asks the process to close its environments and waits for its end for a moment.
  ~WorkerProcess();

  const WorkerCommand& command() const { return command_; }
  const WorkerSpec& spec() const { return spec_; }
  pid_t pid() const { return child_->pid(); }
  bool is_running() const { return is_running_; }

  // Makes `num_envs` environments anew, and memory for them.
  absl::Status Open(int num_envs, int num_frames, int max_repeat);
  // After Open.
  WorkerMemory& memory() { return *memory_; }

  // Announces the request that memory() holds; it need not be waited for when nothing was asked.
  void Send();
  // Unavailable when the process died or did not answer in time; then it has been killed.
  absl::Status Wait();

  // Why the environment of `slot` failed, as Python tells it.
  absl::StatusOr<std::string> Traceback(int slot);
  // Unimplemented when the environment draws no picture.
  absl::StatusOr<Image> Render(int slot);
  // The same for one that draws text (WorkerSpec::draws_text); it ends with the end of a line.
  absl::StatusOr<std::string> RenderText(int slot);

 private:
  WorkerProcess(const WorkerCommand& command, std::unique_ptr<ChildProcess> child,
                MessageSocket socket, Descriptor lifeline);

  absl::StatusOr<std::string> Ask(const std::string& text, double seconds);
  // Why nothing was heard: kills the process and tells how it ended and what it wrote.
  absl::Status Lost(const absl::Status& status);
  absl::StatusOr<std::string> Receive(double seconds);
  void WakeUpForControl();
  bool IsAnsweredSoon() const;

  const WorkerCommand command_;
  std::unique_ptr<ChildProcess> child_;
  MessageSocket socket_;
  Descriptor lifeline_;  // closing it ends the process
  Descriptor request_event_, answer_event_;
  WorkerSpec spec_;
  std::unique_ptr<WorkerMemory> memory_;
  bool is_running_ = true;
  int64_t num_sent_ = 0;
  int64_t num_due_ = 0;  // wake-ups of answers that were not read from answer_event_ yet
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_PROCESS_H_
