// One end of a socket that carries texts, each behind four bytes of its length (little-endian), and
// descriptors, between lzero and a worker process. Every call has a deadline. One thread at a time.
#ifndef LZERO_ENV_PYTHON_MESSAGE_SOCKET_H_
#define LZERO_ENV_PYTHON_MESSAGE_SOCKET_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/env/python/child_process.h"

namespace lzero {

// Waits until `descriptor` is ready for `events` of poll. Unavailable once `end_descriptor` (-1:
// none) is readable and it is not; DeadlineExceeded at `deadline`, in MonotonicSeconds.
absl::Status WaitUntilReady(int descriptor, short events, int end_descriptor, double deadline);

class MessageSocket {
 public:
  // A connected pair; both are closed when a program is started (close-on-exec).
  static absl::StatusOr<std::pair<MessageSocket, MessageSocket>> Pair();

  explicit MessageSocket(int descriptor) : descriptor_(descriptor) {}

  int descriptor() const { return descriptor_.get(); }
  // The other end counts as closed, too, once this descriptor of the caller's is readable and all
  // is read: that of a process which has ended, though its children hold its end of the socket.
  void set_end_descriptor(int descriptor) { end_descriptor_ = descriptor; }

  // Errors of all: Unavailable when the other end is closed, DeadlineExceeded after `seconds`.
  absl::Status Send(absl::string_view text, double seconds);
  // At most 8 descriptors, with one byte of their own.
  absl::Status SendDescriptors(absl::Span<const int> descriptors, double seconds);
  // Internal for a text longer than `max_bytes`.
  absl::StatusOr<std::string> Receive(int64_t max_bytes, double seconds);
  absl::StatusOr<std::string> ReceiveBytes(int64_t num_bytes, double seconds);

 private:
  Descriptor descriptor_;
  int end_descriptor_ = -1;  // none
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_MESSAGE_SOCKET_H_
