// Where a network runs: the CPU, or one of the CUDA devices of the machine. A name alone: whether
// the device is there is not known here. Plain data, no thread rule.
#ifndef LZERO_CONFIG_DEVICE_H_
#define LZERO_CONFIG_DEVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

struct Device {
  enum class Kind { kCpu, kCuda };
  static constexpr int kMostDevices = 120;  // that libtorch counts on one machine

  Kind kind = Kind::kCpu;
  int index = 0;  // among the CUDA devices; 0 for the CPU

  bool is_cpu() const { return kind == Kind::kCpu; }
  bool is_cuda() const { return kind == Kind::kCuda; }
  bool operator==(const Device& other) const {  // not defaulted: nvcc reads this as C++17
    return kind == other.kind && index == other.index;
  }

  static const Device kCpu, kCuda;  // the first CUDA device
};

inline constexpr Device Device::kCpu = {Kind::kCpu, 0};
inline constexpr Device Device::kCuda = {Kind::kCuda, 0};

// What ParseDevice takes, for messages.
inline constexpr char kDeviceNames[] = "cpu, cuda, cuda:N";

// "cpu", "cuda" for the first CUDA device, "cuda:1" for the second.
std::string DeviceText(Device device);

// Reads what DeviceText writes, and cuda:0. The message of an error is a clause, as of ParseInt.
absl::StatusOr<Device> ParseDevice(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_CONFIG_DEVICE_H_
