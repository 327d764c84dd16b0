#include "lzero/env/python/message_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"

namespace lzero {
namespace {

constexpr size_t kMaxDescriptors = 8;

absl::Status Closed() { return absl::UnavailableError("the other end of the socket is closed"); }

absl::Status Failed(const char* what) {
  if (errno == EPIPE || errno == ECONNRESET) return Closed();
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status WaitUntilReady(int descriptor, short events, int end_descriptor, double deadline) {
  while (true) {
    const double left = deadline - MonotonicSeconds();
    pollfd ready[2] = {{descriptor, events, 0}, {end_descriptor, POLLIN, 0}};
    const double milliseconds = std::clamp(std::ceil(left * 1e3), 0.0, 1e9);
    const int count = poll(ready, 2, static_cast<int>(milliseconds));
    if (count > 0) return ready[0].revents != 0 ? absl::OkStatus() : Closed();
    if (count < 0 && errno != EINTR) return Failed("poll");
    if (count == 0 && MonotonicSeconds() >= deadline) {
      return absl::DeadlineExceededError("in time");
    }
  }
}

absl::StatusOr<std::pair<MessageSocket, MessageSocket>> MessageSocket::Pair() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return Failed("socketpair");
  return std::pair(MessageSocket(ends[0]), MessageSocket(ends[1]));
}

absl::Status MessageSocket::Send(absl::string_view text, double seconds) {
  const double deadline = MonotonicSeconds() + seconds;
  const uint32_t size = static_cast<uint32_t>(text.size());
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(text.data(), text.size());
  for (size_t sent = 0; sent < bytes.size();) {
    LZ_RETURN_IF_ERROR(WaitUntilReady(descriptor(), POLLOUT, end_descriptor_, deadline));
    const ssize_t count =
        send(descriptor(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      return Failed("send");
    }
  }
  return absl::OkStatus();
}

absl::Status MessageSocket::SendDescriptors(absl::Span<const int> descriptors, double seconds) {
  LZ_CHECK(descriptors.size() <= kMaxDescriptors, descriptors.size(), " descriptors");
  LZ_RETURN_IF_ERROR(
      WaitUntilReady(descriptor(), POLLOUT, end_descriptor_, MonotonicSeconds() + seconds));
  char byte = 0;
  iovec payload = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &payload;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  if (sendmsg(descriptor(), &message, MSG_NOSIGNAL) != 1) return Failed("sendmsg");
  return absl::OkStatus();
}

absl::StatusOr<std::string> MessageSocket::ReceiveBytes(int64_t num_bytes, double seconds) {
  const double deadline = MonotonicSeconds() + seconds;
  std::string bytes(static_cast<size_t>(num_bytes), '\0');
  for (size_t got = 0; got < bytes.size();) {
    LZ_RETURN_IF_ERROR(WaitUntilReady(descriptor(), POLLIN, end_descriptor_, deadline));
    const ssize_t count = recv(descriptor(), bytes.data() + got, bytes.size() - got, MSG_DONTWAIT);
    if (count == 0) return Closed();
    if (count > 0) {
      got += static_cast<size_t>(count);
    } else if (errno != EAGAIN && errno != EINTR) {
      return Failed("recv");
    }
  }
  return bytes;
}

absl::StatusOr<std::string> MessageSocket::Receive(int64_t max_bytes, double seconds) {
  const double deadline = MonotonicSeconds() + seconds;
  LZ_ASSIGN_OR_RETURN(const std::string prefix, ReceiveBytes(sizeof(uint32_t), seconds));
  uint32_t size = 0;
  std::memcpy(&size, prefix.data(), sizeof(size));
  if (size > max_bytes) {
    return absl::InternalError(absl::StrCat("a message of ", size, " bytes; allowed: ", max_bytes));
  }
  return ReceiveBytes(size, deadline - MonotonicSeconds());
}

}  // namespace lzero
