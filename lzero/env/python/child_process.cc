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
#include "lzero/config/scalar_text.h"

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
  std::vector<Descriptor> copies;  // closed again after the start

  SpawnPlan(absl::Span<const int> descriptors, int output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    // Descriptors.
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    const int high_output = HighCopy(output);
    for (const int own : {1, 2}) posix_spawn_file_actions_adddup2(&actions, high_output, own);
    int next = kFirstDescriptor;
    for (const int descriptor : descriptors) {
      posix_spawn_file_actions_adddup2(&actions, HighCopy(descriptor), next++);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, next);
    // Signals as a new program expects them, and a process group of its own.
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }

  // A copy with a high number, so that giving out the low ones overwrites none that is to come.
  int HighCopy(int descriptor) {
    return copies.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, kHighDescriptor)).get();
  }
};

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
  Descriptor output(memfd_create("lzero_worker_output", MFD_CLOEXEC));
  if (output.get() < 0) {
    return absl::InternalError(absl::StrCat("memfd_create: ", std::strerror(errno)));
  }
  fcntl(output.get(), F_SETFL, O_APPEND);
  // Descriptors, attributes and arguments.
  const SpawnPlan plan(descriptors, output.get());
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Start it.
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], &plan.actions, &plan.attributes, arguments.data(), environ);
  if (error != 0) {
    const std::string message =
        absl::StrCat("cannot start '", command[0], "': ", std::strerror(error));
    return error == ENOENT ? absl::NotFoundError(message) : absl::InternalError(message);
  }
  Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(end), std::move(output)));
}

ChildProcess::~ChildProcess() {
  if (!has_ended_) Kill();
  if (!has_ended_) WaitForEnd(-1.0);
}

void ChildProcess::Kill() {
  if (has_ended_) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // should it have left its group
}

bool ChildProcess::WaitForEnd(double seconds) {
  if (has_ended_) return true;
  pollfd end = {end_descriptor(), POLLIN, 0};
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
  if (fstat(output_.get(), &facts) != 0) return "";
  const off_t size = std::min<off_t>(facts.st_size, static_cast<off_t>(max_bytes));
  std::string tail(static_cast<size_t>(size), '\0');
  const ssize_t got = pread(output_.get(), tail.data(), tail.size(), facts.st_size - size);
  tail.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const size_t line_end = size < facts.st_size ? tail.find('\n') : tail.npos;
  if (line_end != tail.npos && line_end + 1 < tail.size()) tail.erase(0, line_end + 1);
  return EscapedForMessage(tail);
}

void ChildProcess::TrimOutput() {
  struct stat facts = {};
  if (fstat(output_.get(), &facts) == 0 && facts.st_size > kMaxOutput) {
    [[maybe_unused]] const int truncated = ftruncate(output_.get(), 0);
  }
}

}  // namespace lzero
