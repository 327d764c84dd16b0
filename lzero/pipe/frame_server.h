// Frames over two descriptors, such as standard input and output: each behind four bytes of its
// length (little-endian), as messages of worker processes are. Answers requests until the other
// side closes its end. Blocks; one thread.
#ifndef LZERO_PIPE_FRAME_SERVER_H_
#define LZERO_PIPE_FRAME_SERVER_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/pipe/frame.h"

namespace lzero {

class FramePipe {
 public:
  // The descriptors stay the caller's.
  FramePipe(int input, int output) : input_(input), output_(output) {}

  // The next frame, without its length; good until the next call. Nothing once the other side has
  // closed its end between two frames. DataLoss for an end within a frame and for a length that is
  // not allowed, before anything is allocated for it.
  absl::StatusOr<std::optional<absl::string_view>> Read();
  // Unavailable when the other side has closed its end.
  absl::Status Write(absl::string_view frame);

 private:
  // Reads until `size` bytes of the next frame are there; false at the end of the input.
  absl::StatusOr<bool> Fill(size_t size);

  int input_;
  int output_;
  std::string buffer_;  // what was read and not yet given out, from `begin_` on
  size_t begin_ = 0;
};

// Makes the answer to a request. DataLoss: the request is malformed. InvalidArgument,
// FailedPrecondition and Unimplemented: it asks for what is not allowed, and nothing has changed.
using FrameAnswerer = std::function<absl::StatusOr<std::string>(const Frame&)>;

// Writes `hello`, then answers every request; an error becomes a frame kError. Returns Ok at the
// end of the input. Returns an error that the other side has been told when it is DataLoss, or one
// that `answer` cannot go on after.
absl::Status ServeFrames(FramePipe& pipe, absl::string_view hello, const FrameAnswerer& answer);

}  // namespace lzero

#endif  // LZERO_PIPE_FRAME_SERVER_H_
