#include "lzero/env/python/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/python/python.h"

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
absl::StatusOr<Descriptor> ScriptFile() {
  Descriptor file(memfd_create("lzero_worker.py", MFD_CLOEXEC));
  const absl::string_view script = WorkerScript();
  if (file.get() < 0 ||
      write(file.get(), script.data(), script.size()) != static_cast<ssize_t>(script.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot hold the worker's script: ", std::strerror(errno)));
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const WorkerCommand& command) {
  LZ_ASSIGN_OR_RETURN(auto ends, MessageSocket::Pair());
  // Lifeline: the child ends when this side closes.
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe2: ", std::strerror(errno)));
  }
  Descriptor lifeline(pipe_ends[1]);
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = absl::UnknownError("not started");
  {
    // Start Python on the script; what it holds is closed here.
    const Descriptor its_lifeline(pipe_ends[0]);
    const MessageSocket its_end = std::move(ends.second);
    const absl::StatusOr<Descriptor> script = ScriptFile();
    child = !script.ok() ? script.status()
                         : ChildProcess::Start(
                               {command.python, "-X", "faulthandler", "/proc/self/fd/5", "3", "4"},
                               {its_end.descriptor(), its_lifeline.get(), script->get()});
  }
  LZ_RETURN_IF_ERROR(Annotate(child.status(), "the Python of environments (env.python)"));
  // Ask it to make the environment and read its spec.
  std::unique_ptr<WorkerProcess> process(
      new WorkerProcess(command, *std::move(child), std::move(ends.first), std::move(lifeline)));
  const absl::StatusOr<std::string> answer = process->Ask(MakeText(command.task, 0), kMakeSeconds);
  LZ_RETURN_IF_ERROR(Annotate(answer.status(), absl::StrCat("Python is ", command.python)));
  WorkerRefusal refusal;
  absl::StatusOr<WorkerSpec> spec = ReadSpec(*answer, &refusal);
  if (!spec.ok()) {
    return ExplainRefusal(command.python, command.task, spec.status(), refusal);
  }
  process->spec_ = *std::move(spec);
  return process;
}

WorkerProcess::WorkerProcess(const WorkerCommand& command, std::unique_ptr<ChildProcess> child,
                             MessageSocket socket, Descriptor lifeline)
    : command_(command),
      child_(std::move(child)),
      socket_(std::move(socket)),
      lifeline_(std::move(lifeline)),
      request_event_(eventfd(0, EFD_CLOEXEC)),
      answer_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  socket_.set_end_descriptor(child_->end_descriptor());
}

WorkerProcess::~WorkerProcess() {
  if (is_running_) {
    WakeUpForControl();
    if (socket_.Send(VerbText("close"), kCloseSeconds).ok()) child_->WaitForEnd(kCloseSeconds);
  }
  lifeline_ = Descriptor();
  child_->Kill();
}

// Before its first memory the process reads its socket; afterwards it sleeps on its event.
void WorkerProcess::WakeUpForControl() {
  if (memory_ != nullptr) eventfd_write(request_event_.get(), kControlWakeUp);
}

absl::StatusOr<std::string> WorkerProcess::Ask(const std::string& text, double seconds) {
  WakeUpForControl();
  const absl::Status sent = socket_.Send(text, seconds);
  return sent.ok() ? Receive(seconds) : Lost(sent);
}

absl::StatusOr<std::string> WorkerProcess::Receive(double seconds) {
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
  if (!made.ok()) return ExplainRefusal(command_.python, command_.task, made, refusal);
  const bool is_bytes = spec_.observation.type == ObservationType::kUint8;
  const int64_t frame_bytes = spec_.observation.size() * (is_bytes ? 1 : sizeof(float));
  LZ_ASSIGN_OR_RETURN(auto memory,
                      WorkerMemory::Create({num_envs, num_frames, max_repeat, frame_bytes,
                                            static_cast<int>(spec_.action.dim()),
                                            spec_.has_action_mask ? spec_.action.num_actions : 0}));
  WakeUpForControl();
  absl::Status sent = socket_.Send(AttachText(memory->layout()), kMakeSeconds);
  if (!sent.ok()) return Lost(sent);
  memory_ = std::move(memory);
  sent = socket_.SendDescriptors({memory_->descriptor(), request_event_.get(), answer_event_.get()},
                                 kMakeSeconds);
  if (!sent.ok()) return Lost(sent);
  LZ_ASSIGN_OR_RETURN(const std::string attached, Receive(kMakeSeconds));
  return ReadAnswer(attached);
}

void WorkerProcess::Send() {
  memory_->EndRequest();
  if (memory_->num_asked() == 0) return;
  if (++num_sent_ % kSentBetweenTrims == 0) child_->TrimOutput();
  ++num_due_;
  eventfd_write(request_event_.get(), kStepWakeUp);
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
    const absl::Status ready =
        WaitUntilReady(answer_event_.get(), POLLIN, child_->end_descriptor(), deadline);
    if (absl::IsDeadlineExceeded(ready)) {
      return Lost(absl::DeadlineExceededError(
          absl::StrCat("within ", command_.step_timeout_s, " s (env.step_timeout_s)")));
    }
    if (!ready.ok()) return Lost(ready);
    eventfd_t wake_ups = 0;
    if (eventfd_read(answer_event_.get(), &wake_ups) != 0) continue;
    num_due_ -= static_cast<int64_t>(wake_ups);
    if (memory_->IsAnswered()) return absl::OkStatus();
    // Others were of answers that were seen before they came.
    if (num_due_ <= 0) return Lost(absl::InternalError("an answer to another request"));
  }
}

absl::StatusOr<std::string> WorkerProcess::Traceback(int slot) {
  child_->TrimOutput();
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(VerbText("error", slot), command_.step_timeout_s));
  return ReadTraceback(answer);
}

absl::StatusOr<std::string> WorkerProcess::RenderText(int slot) {
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(VerbText("text", slot), command_.step_timeout_s));
  absl::StatusOr<std::string> text = ReadDrawnText(answer);
  if (absl::IsInvalidArgument(text.status())) {
    return absl::UnimplementedError(text.status().message());
  }
  if (!text.ok()) return Lost(text.status());
  if (!absl::EndsWith(*text, "\n")) text->push_back('\n');
  return text;
}

absl::StatusOr<Image> WorkerProcess::Render(int slot) {
  LZ_ASSIGN_OR_RETURN(const std::string answer,
                      Ask(VerbText("render", slot), command_.step_timeout_s));
  absl::StatusOr<Image> image = ReadBlankPicture(answer);
  if (absl::IsInvalidArgument(image.status()) || absl::IsFailedPrecondition(image.status())) {
    return absl::UnimplementedError(image.status().message());
  }
  if (!image.ok()) return Lost(image.status());
  const auto bytes =
      socket_.ReceiveBytes(static_cast<int64_t>(image->pixels.size()), command_.step_timeout_s);
  if (!bytes.ok()) return Lost(bytes.status());
  std::copy(bytes->begin(), bytes->end(), image->pixels.begin());
  return image;
}

}  // namespace lzero
