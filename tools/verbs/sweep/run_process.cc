#include "tools/verbs/sweep/run_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kCannotStart = 127;  // as shells say it

// The child's side of fork: only what is safe beside the threads of its parent.
[[noreturn]] void Become(const char* program, char* const* words, int log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kCannotStart);  // it ended before the line above
  const int input = open("/dev/null", O_RDONLY);
  if (input >= 0) dup2(input, STDIN_FILENO);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) dup2(log, output);
  execv(program, words);
  static constexpr char kMessage[] = "error: the program cannot be started\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kCannotStart);
}

}  // namespace

absl::StatusOr<RunProcess> RunProcess::Start(const std::string& program,
                                             const std::vector<std::string>& words,
                                             const std::string& log_path) {
  LZ_CHECK(!words.empty(), "no words");
  LZ_ASSIGN_OR_RETURN(const OpenFile log, OpenFile::Open(log_path, O_WRONLY | O_CREAT | O_APPEND));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Become(program.c_str(), arguments.data(), log.descriptor(), parent);
  if (pid < 0) return SystemError("cannot start a process for", log_path);
  return RunProcess(pid);
}

RunProcess::~RunProcess() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> RunProcess::Poll() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void RunProcess::Interrupt() const { kill(pid_, SIGINT); }

}  // namespace lzero
