#include "lzero/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
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
  const auto unavailable = [](const absl::Status& status) {
    return absl::UnavailableError(status.message());
  };
  auto file = OpenFile::Open(JoinPath(run_dir, kRunLockFile), O_RDWR | O_CREAT);
  if (!file.ok()) return unavailable(file.status());
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return InUse(run_dir);
    return unavailable(SystemError("cannot lock", file->path()));
  }
  RunLock lock(*std::move(file));
  absl::Status status;
  if (::ftruncate(lock.file_.descriptor(), 0) != 0)
    status = SystemError("cannot write", lock.file_.path());
  if (status.ok()) status = lock.file_.Write(absl::StrCat(::getpid(), "\n"));
  if (!status.ok()) return unavailable(status);
  return lock;
}

RunLock::~RunLock() {
  if (file_.descriptor() < 0) return;
  // The id goes first: the next holder must never be taken for this one. Should that fail, the next
  // holder writes its own over it.
  [[maybe_unused]] const int ignored = ::ftruncate(file_.descriptor(), 0);
}

}  // namespace lzero
