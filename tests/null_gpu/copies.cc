// Copies and fills of the runtime.
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/memory.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {
namespace {

// The direction that a copy has; what it says must be true.
void CheckKind(cudaMemcpyKind kind, MemoryKind to, MemoryKind from) {
  const bool to_device = to == MemoryKind::kDevice, from_device = from == MemoryKind::kDevice;
  const bool is_right = kind == cudaMemcpyHostToDevice     ? to_device && !from_device
                        : kind == cudaMemcpyDeviceToHost   ? !to_device && from_device
                        : kind == cudaMemcpyDeviceToDevice ? to_device && from_device
                                                           : true;
  if (!is_right) Violation("a copy whose ends are not where it says");
}

// Pageable memory is read before the call returns, and written before it returns.
cudaError_t Copy(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                 cudaStream_t handle) {
  const Lock lock;
  Count("copies");
  Count("copied_bytes", static_cast<int64_t>(size));
  if (size == 0) return cudaSuccess;
  const MemoryKind to_kind = KindOf(to, size), from_kind = KindOf(from, size);
  CheckKind(kind, to_kind, from_kind);
  const Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  const bool is_pageable = to_kind == MemoryKind::kUnknown || from_kind == MemoryKind::kUnknown;
  if (stream->capture != nullptr && is_pageable) Violation("a captured copy of pageable memory");
  Work work{kCopy, nullptr, {}};
  const int to_device = DeviceOf(to), from_device = DeviceOf(from);
  work.joins_devices = to_device >= 0 && from_device >= 0 && to_device != from_device &&
                       (stream->device == to_device || stream->device == from_device);
  if (to_kind != MemoryKind::kUnknown) work.ranges.push_back({to, size, true});
  if (from_kind == MemoryKind::kUnknown) {
    const auto* bytes = static_cast<const char*>(from);
    const auto kept = std::make_shared<std::vector<char>>(bytes, bytes + size);
    work.run = [=] { std::memcpy(to, kept->data(), size); };
  } else {
    work.ranges.push_back({from, size, false});
    work.run = [=] { std::memmove(to, from, size); };
  }
  const cudaError_t error = Issue(handle, std::move(work));
  if (error != cudaSuccess || to_kind != MemoryKind::kUnknown || stream->capture != nullptr) {
    return error;
  }
  return cudaStreamSynchronize(handle);
}

}  // namespace
}  // namespace lzero::null_gpu

using lzero::null_gpu::Fail;
using lzero::null_gpu::Lock;

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return lzero::null_gpu::Copy(to, from, size, kind, stream);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  const Lock lock;
  const bool is_right =
      lzero::null_gpu::DeviceOf(to) == to_device && lzero::null_gpu::DeviceOf(from) == from_device;
  if (!is_right) lzero::null_gpu::Violation("a copy whose ends are not on the devices it says");
  return lzero::null_gpu::Copy(to, from, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  const Lock lock;
  if (lzero::null_gpu::RefuseInCapture("cudaMemcpy")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t error = lzero::null_gpu::Copy(to, from, size, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  return lzero::null_gpu::Issue(
      stream, {lzero::null_gpu::kFill, [=] { std::memset(to, value, size); }, {{to, size, true}}});
}

cudaError_t cudaMemset(void* to, int value, size_t size) {
  const Lock lock;
  if (lzero::null_gpu::RefuseInCapture("cudaMemset")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  return cudaMemsetAsync(to, value, size, nullptr);
}

}  // extern "C"
