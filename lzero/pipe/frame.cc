#include "lzero/pipe/frame.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace lzero {

absl::StatusOr<Frame> ReadFrame(absl::string_view bytes) {
  if (bytes.size() < 4) {
    return absl::DataLossError(
        absl::StrCat("a frame of ", bytes.size(), " bytes; allowed: 4 or more"));
  }
  if (bytes[2] != 0 || bytes[3] != 0) {
    return absl::DataLossError("the third and fourth byte of a frame must be 0");
  }
  return Frame{static_cast<FrameType>(bytes[0]), static_cast<uint8_t>(bytes[1]), bytes.substr(4)};
}

}  // namespace lzero
