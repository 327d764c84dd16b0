#include "tools/verbs/support/serve_stdio.h"

#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

int RefuseTerminal(const std::string& what) {
  return PrintError(
      absl::InvalidArgumentError(absl::StrCat(
          what, ": a program talks to it, by binary frames; in Python: lzero_cpp.load(RUN)")),
      kExitUsage);
}

}  // namespace

int RefuseWithoutStdio(const std::string& verb) {
  return RefuseTerminal(absl::StrCat(verb, " needs --stdio"));
}

int ServeStdio(absl::string_view hello, const FrameAnswerer& answer) {
  if (isatty(STDIN_FILENO) == 1 || isatty(STDOUT_FILENO) == 1) {
    return RefuseTerminal("--stdio is not for a terminal");
  }
  const int output = dup(STDOUT_FILENO);
  if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return PrintError(absl::InternalError("standard output or stderr is closed"), kExitFailure);
  }
  FramePipe pipe(STDIN_FILENO, output);
  const absl::Status served = ServeFrames(pipe, hello, answer);
  close(output);
  if (served.ok()) return kExitOk;
  return PrintError(served, absl::IsDataLoss(served) ? kExitUsage : kExitFailure);
}

}  // namespace lzero
