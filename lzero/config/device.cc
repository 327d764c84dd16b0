#include "lzero/config/device.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"

namespace lzero {

std::string DeviceText(Device device) {
  if (device.is_cpu()) return "cpu";
  return device.index == 0 ? "cuda" : absl::StrCat("cuda:", device.index);
}

absl::StatusOr<Device> ParseDevice(absl::string_view text) {
  if (text == "cpu") return Device::kCpu;
  if (text == "cuda") return Device::kCuda;
  if (!absl::ConsumePrefix(&text, "cuda:")) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown choice", DidYouMean(std::string(text), {"cpu", "cuda"})));
  }
  const absl::StatusOr<int64_t> index = ParseInt(text);
  if (!index.ok() || *index < 0 || *index >= Device::kMostDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("N of cuda:N is no number from 0 to ", Device::kMostDevices - 1));
  }
  return Device{Device::Kind::kCuda, static_cast<int>(*index)};
}

}  // namespace lzero
