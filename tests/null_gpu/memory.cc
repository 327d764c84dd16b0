#include "tests/null_gpu/memory.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

#include "tests/null_gpu/access.h"
#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/device.h"
#include "tests/null_gpu/operator_library.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"
#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {
namespace {

constexpr size_t kAlignment = 512;
// What memory holds at first. All ones are no number: floats that are read before they are written
// show. Where no kernel of libtorch writes any, zeros go through a search.
int FirstByte() { return GetSettings().level == Level::kControl ? 0 : 0xFF; }

struct Block {
  size_t size;
  MemoryKind kind;
  int device;  // that was current when it was made
};

std::map<uintptr_t, Block>& Blocks() {
  static auto& blocks = *new std::map<uintptr_t, Block>;
  return blocks;
}

size_t TotalBytes() { return GetSettings().memory_mib << 20; }

// What another process holds on each device: nothing before this one has asked how much is free.
size_t taken_bytes = 0;

std::string NameOf(const char* count, int device) {
  return std::string(count) + "_" + std::to_string(device);
}

size_t UsedBytes(int device) {
  return static_cast<size_t>(lz_null_gpu_count(NameOf("device_bytes", device).c_str()));
}

// The block has come, or goes where `sign` is -1.
void CountBlock(const Block& block, int sign) {
  const int64_t size = sign * static_cast<int64_t>(block.size);
  if (block.kind == MemoryKind::kPinned) return Count("pinned_bytes", size);
  Count("device_bytes", size);
  Count(NameOf("device_bytes", block.device), size);
  const std::string peak = NameOf("peak_device_bytes", block.device);
  const auto used = static_cast<int64_t>(UsedBytes(block.device));
  Count(peak, std::max<int64_t>(0, used - lz_null_gpu_count(peak.c_str())));
}

cudaError_t Allocate(const char* call, MemoryKind kind, size_t size, void** memory) {
  const Lock lock;
  MakeContext();
  *memory = nullptr;
  if (RefuseInCapture(call)) return Fail(cudaErrorStreamCaptureUnsupported);
  if (kind == MemoryKind::kDevice &&
      UsedBytes(CurrentDevice()) + taken_bytes + size > TotalBytes()) {
    return Fail(cudaErrorMemoryAllocation);
  }
  *memory = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return Fail(cudaErrorMemoryAllocation);
  std::memset(*memory, FirstByte(), size);
  const Block block = {size, kind, CurrentDevice()};
  Blocks()[reinterpret_cast<uintptr_t>(*memory)] = block;
  CountBlock(block, 1);
  return cudaSuccess;
}

// Waits for the device, as the real calls do.
cudaError_t Free(const char* call, MemoryKind kind, void* memory) {
  if (memory == nullptr) return cudaSuccess;
  const Lock lock;
  if (RefuseInCapture(call)) return Fail(cudaErrorStreamCaptureUnsupported);
  const auto found = Blocks().find(reinterpret_cast<uintptr_t>(memory));
  if (found == Blocks().end() || found->second.kind != kind) {
    Violation(std::string(call) + " of what is not allocated");
    return Fail(cudaErrorInvalidValue);
  }
  WaitForAll(kind == MemoryKind::kDevice ? found->second.device : kAnyDevice);
  ForgetAccess(memory, found->second.size);
  CountBlock(found->second, -1);
  Blocks().erase(found);
  std::free(memory);
  return cudaSuccess;
}

}  // namespace

MemoryKind KindOf(const void* begin, size_t size) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const auto after = Blocks().upper_bound(at);
  if (after == Blocks().begin()) return MemoryKind::kUnknown;
  const auto& [block, facts] = *std::prev(after);
  return at + size <= block + facts.size ? facts.kind : MemoryKind::kUnknown;
}

int DeviceOf(const void* at) {
  if (KindOf(at, 1) != MemoryKind::kDevice) return -1;
  return std::prev(Blocks().upper_bound(reinterpret_cast<uintptr_t>(at)))->second.device;
}

}  // namespace lzero::null_gpu

using lzero::null_gpu::MemoryKind;

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t size) {
  lzero::null_gpu::LoadOperators();
  return lzero::null_gpu::Allocate("cudaMalloc", MemoryKind::kDevice, size, memory);
}

cudaError_t cudaFree(void* memory) {
  return lzero::null_gpu::Free("cudaFree", MemoryKind::kDevice, memory);
}

cudaError_t cudaHostAlloc(void** memory, size_t size, unsigned int /*flags*/) {
  return lzero::null_gpu::Allocate("cudaHostAlloc", MemoryKind::kPinned, size, memory);
}

cudaError_t cudaFreeHost(void* memory) {
  return lzero::null_gpu::Free("cudaFreeHost", MemoryKind::kPinned, memory);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  const lzero::null_gpu::Lock lock;
  lzero::null_gpu::MakeContext();
  const size_t total = lzero::null_gpu::TotalBytes();
  const size_t held =
      lzero::null_gpu::UsedBytes(lzero::null_gpu::CurrentDevice()) + lzero::null_gpu::taken_bytes;
  *total_bytes = total;
  *free_bytes = total - std::min(total, held);
  lzero::null_gpu::taken_bytes = lzero::null_gpu::GetSettings().taken_mib << 20;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const lzero::null_gpu::Lock lock;
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  const MemoryKind kind = lzero::null_gpu::KindOf(pointer, 1);
  if (kind == MemoryKind::kUnknown) return cudaSuccess;
  attributes->type = kind == MemoryKind::kDevice ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->device = std::max(0, lzero::null_gpu::DeviceOf(pointer));
  attributes->devicePointer = const_cast<void*>(pointer);
  if (kind == MemoryKind::kPinned) attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

}  // extern "C"
