#include "lzero/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"

namespace lzero {
namespace {

absl::Status InUse(const std::string& run_dir) {
  const auto text = ReadFile(JoinPath(run_dir, kRunLockFile));
  const std::string holder(absl::StripAsciiWhitespace(text.ok() ? *text : ""));
  return absl::FailedPreconditionError(
      absl::StrCat("run folder ", run_dir, " is in use by ",
                   holder.empty() ? "another process" : absl::StrCat("process ", holder),
                   ": wait for it, or stop it with Ctrl-C or kill, then try again"));
}

}  // namespace

absl::StatusOr<RunLock> RunLock::Acquire(const std::string& run_dir) {
  const std::string path = JoinPath(run_dir, kRunLockFile);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::UnavailableError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    ::close(file);
    if (code == EWOULDBLOCK) return InUse(run_dir);
    return absl::UnavailableError(absl::StrCat("cannot lock ", path, ": ", std::strerror(code)));
  }
  RunLock lock(file);
  const std::string holder = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

RunLock::~RunLock() {
  if (file_ < 0) return;
  // The id goes first: the next holder must never be taken for this one. Should that fail, the next
  // holder writes its own over it.
  [[maybe_unused]] const int ignored = ::ftruncate(file_, 0);
  ::close(file_);
}

}  // namespace lzero
