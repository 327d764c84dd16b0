#include "lzero/env/python/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/python/python.h"
#include "lzero/env/python/worker_script.h"

namespace lzero {
namespace {

constexpr double kMakeSeconds = 180.0;  // imports of large packages on a cold disk
constexpr double kCloseSeconds = 2.0;
constexpr uint64_t kStepWakeUp = 1;
constexpr uint64_t kControlWakeUp = uint64_t{1} << 32;
constexpr size_t kShownOutput = 2000;
constexpr int64_t kSentBetweenTrims = 16;
// How long an answer is looked for before this thread sleeps: waking up takes as long as several
// steps of a small environment. Other threads go first. Elsewhere the event orders what is read.
#if defined(__x86_64__)
constexpr double kSpinSeconds = 1e-3;
#else
constexpr double kSpinSeconds = 0.0;
#endif

// The script as a file without a name.
absl::StatusOr<int> ScriptFile() {
  const int descriptor = memfd_create("lzero_worker.py", MFD_CLOEXEC);
  const absl::string_view script = WorkerScript();
  if (descriptor < 0 ||
      write(descriptor, script.data(), script.size()) != static_cast<ssize_t>(script.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot hold the worker's script: ", std::strerror(errno)));
  }
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const WorkerCommand& command) {
  LZ_ASSIGN_OR_RETURN(auto ends, MessageSocket::Pair());
  // Lifeline: the child ends when this side closes.
  int lifeline[2] = {-1, -1};
  if (pipe2(lifeline, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe2: ", std::strerror(errno)));
  }
  // Start Python on the script.
  const absl::StatusOr<int> script = ScriptFile();
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = absl::UnknownError("not started");
  if (!script.ok()) {
    child = script.status();
  } else {
    child = ChildProcess::Start({command.python, "-X", "faulthandler", "/proc/self/fd/5", "3", "4"},
                                {ends.second.descriptor(), lifeline[0], *script});
    close(*script);
  }
  close(lifeline[0]);
  if (!child.ok()) {
    close(lifeline[1]);
    return Annotate(child.status(), "the Python of environments (env.python)");
  }
  // Ask it to make the environment and read its spec.
  std::unique_ptr<WorkerProcess> process(
      new WorkerProcess(command, std::move(child).value(), std::move(ends.first), lifeline[1]));
  ends.second = MessageSocket(-1);  // the child has it alone: its end is heard
  WorkerRefusal refusal;
  const absl::StatusOr<std::string> asked = process->Ask(MakeText(command.task, 0), kMakeSeconds);
  LZ_RETURN_IF_ERROR(Annotate(asked.status(), absl::StrCat("Python is ", command.python)));
  const std::string& answer = *asked;
  absl::StatusOr<WorkerSpec> spec = ReadSpec(answer, &refusal);
  if (!spec.ok())
    return ExplainRefusal(command.python, command.task.Name(), spec.status(), refusal);
  process->spec_ = *std::move(spec);
  return process;
}

WorkerProcess::WorkerProcess(const WorkerCommand& command, std::unique_ptr<ChildProcess> child,
                             MessageSocket socket, int lifeline)
    : command_(command),
      child_(std::move(child)),
      socket_(std::move(socket)),
      lifeline_(lifeline),
      request_event_(eventfd(0, EFD_CLOEXEC)),
      answer_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  socket_.set_end_descriptor(child_->end_descriptor());
}

WorkerProcess::~WorkerProcess() {
  if (is_running_) {
    if (memory_ != nullptr) eventfd_write(request_event_, kControlWakeUp);
    if (socket_.Send(VerbText("close"), kCloseSeconds).ok()) child_->WaitForEnd(kCloseSeconds);
  }
  close(lifeline_);
  child_->Kill();
  for (const int event : {request_event_, answer_event_}) {
    if (event >= 0) close(event);
  }
}

absl::StatusOr<std::string> WorkerProcess::Ask(const std::string& text, double seconds) {
  // Once it is attached the process sleeps on its event.
  if (memory_ != nullptr) eventfd_write(request_event_, kControlWakeUp);
  absl::Status status = socket_.Send(text, seconds);
  if (!status.ok()) return Lost(status);
  absl::StatusOr<std::string> answer = socket_.Receive(kMaxWorkerText, seconds);
  if (!answer.ok()) return Lost(answer.status());
  return answer;
}

absl::Status WorkerProcess::Lost(const absl::Status& status) {
  const bool is_late = absl::IsDeadlineExceeded(status);
  if (is_late || absl::IsInternal(status)) child_->Kill();
  if (!child_->WaitForEnd(kCloseSeconds)) {
    child_->Kill();
    child_->WaitForEnd(-1.0);
  }
  is_running_ = false;
  const std::string output = child_->OutputTail(kShownOutput);
  return absl::UnavailableError(
      absl::StrCat("the worker process of '", command_.task.Name(), "' (", child_->pid(), ") ",
                   is_late ? absl::StrCat("gave no answer ", status.message(), " and was ended")
                           : absl::StrCat(child_->end_text(),
                                          absl::IsInternal(status)
                                              ? absl::StrCat(" after an error: ", status.message())
                                              : ""),
                   output.empty() ? "" : absl::StrCat("; its last output:\n", output)));
}

absl::Status WorkerProcess::Open(int num_envs, int num_frames, int max_repeat) {
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(MakeText(command_.task, num_envs), kMakeSeconds));
  WorkerRefusal refusal;
  const absl::Status made = ReadAnswer(answer, &refusal);
  if (!made.ok()) return ExplainRefusal(command_.python, command_.task.Name(), made, refusal);
  WorkerSizes sizes;
  sizes.num_slots = num_envs;
  sizes.num_frames = num_frames;
  sizes.max_repeat = max_repeat;
  sizes.frame_bytes = spec_.observation.size() *
                      (spec_.observation.type == ObservationType::kUint8 ? 1 : sizeof(float));
  const bool is_box = spec_.action.kind == ActionKind::kBox;
  sizes.action_size = is_box ? static_cast<int>(spec_.action.low.size()) : 0;
  sizes.mask_size = spec_.has_action_mask ? spec_.action.num_actions : 0;
  LZ_ASSIGN_OR_RETURN(auto memory, WorkerMemory::Create(sizes));
  // Before its first memory the process reads its socket; afterwards it waits for the event.
  if (memory_ != nullptr) eventfd_write(request_event_, kControlWakeUp);
  const absl::Status sent = socket_.Send(AttachText(memory->layout()), kMakeSeconds);
  if (!sent.ok()) return Lost(sent);
  memory_ = std::move(memory);
  return Attach();
}

absl::Status WorkerProcess::Attach() {
  absl::Status status =
      socket_.SendDescriptors({memory_->descriptor(), request_event_, answer_event_}, kMakeSeconds);
  if (!status.ok()) return Lost(status);
  const absl::StatusOr<std::string> answer = socket_.Receive(kMaxWorkerText, kMakeSeconds);
  if (!answer.ok()) return Lost(answer.status());
  return ReadAnswer(*answer);
}

void WorkerProcess::Send() {
  memory_->EndRequest();
  if (memory_->num_asked() == 0) return;
  if (++num_sent_ % kSentBetweenTrims == 0) child_->TrimOutput();
  ++num_due_;
  eventfd_write(request_event_, kStepWakeUp);
}

bool WorkerProcess::IsAnsweredSoon() const {
  for (const double end = MonotonicSeconds() + kSpinSeconds; MonotonicSeconds() < end;) {
    if (memory_->IsAnswered()) return true;
    sched_yield();
  }
  return false;
}

absl::Status WorkerProcess::Wait() {
  if (memory_->num_asked() == 0 || IsAnsweredSoon()) return absl::OkStatus();
  const double deadline = MonotonicSeconds() + command_.step_timeout_s;
  while (true) {
    pollfd ready[2] = {{answer_event_, POLLIN, 0}, {child_->end_descriptor(), POLLIN, 0}};
    const double left = std::ceil((deadline - MonotonicSeconds()) * 1e3);
    const int count = poll(ready, 2, static_cast<int>(std::clamp(left, 0.0, 1e9)));
    eventfd_t wake_ups = 0;
    if (count > 0 && (ready[0].revents & POLLIN) != 0 &&
        eventfd_read(answer_event_, &wake_ups) == 0) {
      num_due_ -= static_cast<int64_t>(wake_ups);
      if (memory_->IsAnswered()) return absl::OkStatus();
      if (num_due_ > 0) continue;  // those were of answers that were seen before they came
      return Lost(absl::InternalError("an answer to another request"));
    }
    if (count > 0 && (ready[1].revents & POLLIN) != 0) return Lost(absl::UnavailableError(""));
    if (count < 0 && errno != EINTR) return Lost(absl::InternalError(std::strerror(errno)));
    if (MonotonicSeconds() >= deadline) {
      return Lost(absl::DeadlineExceededError(
          absl::StrCat("within ", command_.step_timeout_s, " s (env.step_timeout_s)")));
    }
  }
}

absl::StatusOr<std::string> WorkerProcess::Traceback(int slot) {
  child_->TrimOutput();
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(VerbText("error", slot), command_.step_timeout_s));
  return ReadTraceback(answer);
}

absl::StatusOr<Image> WorkerProcess::Render(int slot) {
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(VerbText("render", slot), command_.step_timeout_s));
  const absl::StatusOr<PictureSize> size = ReadPictureSize(answer);
  if (absl::IsInvalidArgument(size.status()) || absl::IsFailedPrecondition(size.status())) {
    return absl::UnimplementedError(size.status().message());
  }
  if (!size.ok()) return Lost(size.status());
  Image image(size->width, size->height);
  const auto bytes =
      socket_.ReceiveBytes(static_cast<int64_t>(image.pixels.size()), command_.step_timeout_s);
  if (!bytes.ok()) return Lost(bytes.status());
  std::copy(bytes->begin(), bytes->end(), image.pixels.begin());
  return image;
}

}  // namespace lzero
