// Verbs that another program talks to over standard input and output.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_SERVE_STDIO_H_
#define LZERO_TOOLS_VERBS_SUPPORT_SERVE_STDIO_H_

#include <string>

#include "absl/strings/string_view.h"
#include "lzero/pipe/frame_server.h"

namespace lzero {

// What `lzero VERB` without --stdio says; its exit code.
int RefuseWithoutStdio(const std::string& verb);

// Serves frames until the input ends, and returns the exit code: 0, 1 after a failure, 2 after a
// malformed frame, both told on stderr. Refuses a terminal. From here on whatever else prints to
// standard output prints to stderr.
int ServeStdio(absl::string_view hello, const FrameAnswerer& answer);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_SERVE_STDIO_H_
