#include "lzero/inference/engine_device.h"

#include "lzero/base/status_macros.h"
#include "lzero/graph/cuda_graph_library.h"

namespace lzero {

absl::StatusOr<at::Device> PrepareDevice(Device device) {
  if (device == Device::kCpu) return at::Device(at::kCPU);
  LZ_RETURN_IF_ERROR(Annotate(LoadCuda(), "inference.device: cuda"));
  return at::Device(at::kCUDA, 0);
}

}  // namespace lzero
