#include "lzero/env/python/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

extern char** environ;

namespace lzero {
namespace {

constexpr off_t kMaxOutput = 1 << 20;
constexpr int kFirstDescriptor = 3;
constexpr int kHighDescriptor = 64;  // above those that a child gets

// What posix_spawn does before the program begins, and with which attributes.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  std::vector<int> copies;  // closed again after the start

  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    for (const int copy : copies) close(copy);
  }

  // A copy with a high number, so that giving out the low ones overwrites none that is to come.
  int HighCopy(int descriptor) {
    copies.push_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor));
    return copies.back();
  }
};

void PlanDescriptors(SpawnPlan& plan, absl::Span<const int> descriptors, int output) {
  posix_spawn_file_actions_addopen(&plan.actions, 0, "/dev/null", O_RDONLY, 0);
  const int high_output = plan.HighCopy(output);
  posix_spawn_file_actions_adddup2(&plan.actions, high_output, 1);
  posix_spawn_file_actions_adddup2(&plan.actions, high_output, 2);
  int next = kFirstDescriptor;
  for (const int descriptor : descriptors) {
    posix_spawn_file_actions_adddup2(&plan.actions, plan.HighCopy(descriptor), next++);
  }
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, next);
}

void PlanAttributes(SpawnPlan& plan) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&plan.attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&plan.attributes, &signals);
  posix_spawnattr_setpgroup(&plan.attributes, 0);
  posix_spawnattr_setflags(&plan.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

std::string EndText(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("was killed by signal ", signal, " (", strsignal(signal), ")");
  }
  return absl::StrCat("exited with status ", WEXITSTATUS(wait_status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& command, absl::Span<const int> descriptors) {
  LZ_CHECK(!command.empty(), "no command");
  // Memory for its output.
  const int output = memfd_create("lzero_worker_output", MFD_CLOEXEC);
  if (output < 0) {
    return absl::InternalError(absl::StrCat("memfd_create: ", std::strerror(errno)));
  }
  fcntl(output, F_SETFL, O_APPEND);
  // Descriptors, attributes and arguments.
  SpawnPlan plan;
  PlanDescriptors(plan, descriptors, output);
  PlanAttributes(plan);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Start it.
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], &plan.actions, &plan.attributes, arguments.data(), environ);
  const int end_descriptor = error == 0 ? static_cast<int>(syscall(SYS_pidfd_open, pid, 0)) : -1;
  if (error != 0) {
    close(output);
    const std::string message =
        absl::StrCat("cannot start '", command[0], "': ", std::strerror(error));
    return error == ENOENT ? absl::NotFoundError(message) : absl::InternalError(message);
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, end_descriptor, output));
}

ChildProcess::ChildProcess(pid_t pid, int end_descriptor, int output)
    : pid_(pid), end_descriptor_(end_descriptor), output_(output) {}

ChildProcess::~ChildProcess() {
  if (!has_ended_) Kill();
  if (!has_ended_) WaitForEnd(-1.0);
  if (end_descriptor_ >= 0) close(end_descriptor_);
  close(output_);
}

void ChildProcess::Kill() {
  if (has_ended_) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // should it have left its group
}

bool ChildProcess::WaitForEnd(double seconds) {
  if (has_ended_) return true;
  pollfd end = {end_descriptor_, POLLIN, 0};
  if (seconds >= 0.0) poll(&end, 1, static_cast<int>(std::min(seconds * 1e3 + 0.5, 2e9)));
  siginfo_t facts = {};
  int failed = 0;
  do {
    failed = waitid(P_PID, static_cast<id_t>(pid_), &facts,
                    WEXITED | WNOWAIT | (seconds < 0.0 ? 0 : WNOHANG));
  } while (failed != 0 && errno == EINTR);
  if (failed == 0 && facts.si_pid == 0) return false;
  // Until it is waited for, the number of its group is nobody else's.
  kill(-pid_, SIGKILL);
  int wait_status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &wait_status, 0);
  } while (ended < 0 && errno == EINTR);
  has_ended_ = true;
  end_text_ = ended == pid_ ? EndText(wait_status) : "is gone";
  return true;
}

std::string ChildProcess::OutputTail(size_t max_bytes) const {
  struct stat facts = {};
  if (fstat(output_, &facts) != 0) return "";
  const off_t size = std::min<off_t>(facts.st_size, static_cast<off_t>(max_bytes));
  std::string tail(static_cast<size_t>(size), '\0');
  const ssize_t got = pread(output_, tail.data(), tail.size(), facts.st_size - size);
  tail.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const size_t line_end = size < facts.st_size ? tail.find('\n') : tail.npos;
  if (line_end != tail.npos && line_end + 1 < tail.size()) tail.erase(0, line_end + 1);
  return tail;
}

void ChildProcess::TrimOutput() {
  struct stat facts = {};
  if (fstat(output_, &facts) == 0 && facts.st_size > kMaxOutput) {
    [[maybe_unused]] const int truncated = ftruncate(output_, 0);
  }
}

}  // namespace lzero
