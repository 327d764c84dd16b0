#include "lzero/pipe/frame_server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kPrefixBytes = sizeof(uint32_t);

enum class ErrorCode : uint32_t { kRefused = 1, kMalformed = 2, kFailed = 3 };

ErrorCode CodeOf(const absl::Status& status) {
  if (absl::IsDataLoss(status)) return ErrorCode::kMalformed;
  const bool is_refused = absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
                          absl::IsUnimplemented(status);
  return is_refused ? ErrorCode::kRefused : ErrorCode::kFailed;
}

std::string ErrorFrame(const absl::Status& status) {
  return FrameWriter(FrameType::kError)
      .Add(static_cast<uint32_t>(CodeOf(status)))
      .AddText(status.message())
      .Take();
}

}  // namespace

absl::StatusOr<bool> FramePipe::Fill(size_t size) {
  while (buffer_.size() - begin_ < size) {
    if (begin_ > 0) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    // Memory grows with what has come, not with what was announced.
    const size_t had = buffer_.size();
    buffer_.resize(had + kReadBytes);
    ssize_t count = -1;
    do {
      count = read(input_, buffer_.data() + had, kReadBytes);
    } while (count < 0 && errno == EINTR);
    buffer_.resize(had + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) return absl::UnavailableError(absl::StrCat("read: ", std::strerror(errno)));
    if (count == 0) return false;
  }
  return true;
}

absl::StatusOr<std::optional<absl::string_view>> FramePipe::Read() {
  LZ_ASSIGN_OR_RETURN(const bool has_prefix, Fill(kPrefixBytes));
  if (!has_prefix && begin_ == buffer_.size()) return std::nullopt;
  if (!has_prefix) return absl::DataLossError("the input ended within a frame");
  uint32_t size = 0;
  std::memcpy(&size, buffer_.data() + begin_, kPrefixBytes);
  if (size > kMostFrameBytes) {
    return absl::DataLossError(
        absl::StrCat("a frame of ", size, " bytes; allowed: at most ", kMostFrameBytes));
  }
  LZ_ASSIGN_OR_RETURN(const bool has_all, Fill(kPrefixBytes + size));
  if (!has_all) return absl::DataLossError("the input ended within a frame");
  const auto frame = absl::string_view(buffer_).substr(begin_ + kPrefixBytes, size);
  begin_ += kPrefixBytes + size;
  return frame;
}

absl::Status FramePipe::Write(absl::string_view frame) {
  const uint32_t size = static_cast<uint32_t>(frame.size());
  std::string bytes(reinterpret_cast<const char*>(&size), kPrefixBytes);
  bytes.append(frame.data(), frame.size());
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t count = write(output_, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::UnavailableError(absl::StrCat("write: ", std::strerror(errno)));
    written += static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

absl::Status ServeFrames(FramePipe& pipe, absl::string_view hello, const FrameAnswerer& answer) {
  LZ_RETURN_IF_ERROR(pipe.Write(hello));
  while (true) {
    const auto bytes = pipe.Read();
    if (bytes.ok() && !bytes->has_value()) return absl::OkStatus();
    absl::StatusOr<Frame> request = bytes.ok() ? ReadFrame(**bytes) : bytes.status();
    const absl::StatusOr<std::string> answered =
        request.ok() ? answer(*request) : absl::StatusOr<std::string>(request.status());
    LZ_RETURN_IF_ERROR(pipe.Write(answered.ok() ? *answered : ErrorFrame(answered.status())));
    if (!answered.ok() && CodeOf(answered.status()) != ErrorCode::kRefused) {
      return answered.status();
    }
  }
}

}  // namespace lzero
