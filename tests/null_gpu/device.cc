// Facts about the devices: H100s, without numbers that nobody reads.
#include "tests/null_gpu/device.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"

namespace {

constexpr int kVersion = 13000;
constexpr int kNumProcessors = 132;
constexpr int kMaxThreads = 1024;
constexpr int kWarpSize = 32;
constexpr int kSharedBytes = 49152, kSharedBytesAtMost = 232448, kSharedBytesOfAll = 233472;

// Any entry point of the driver. libtorch asks for them at its start and calls none.
long DoNothing() {
  lz_null_gpu_missing("an entry point of the driver");
  return 0;
}

thread_local int current_device = 0;

std::set<int>& Contexts() {
  static auto& contexts = *new std::set<int>;
  return contexts;
}

}  // namespace

namespace lzero::null_gpu {

int CurrentDevice() { return current_device; }

void MakeContext() {
  const Lock lock;
  if (!Contexts().insert(current_device).second) return;
  Count("contexts");
  Count("contexts_" + std::to_string(current_device));
}

bool IsOfAnother(const std::string& what, int device, const std::string& to_what, int other) {
  if (device == other) return false;
  Violation(what + " of device " + std::to_string(device) + " is given to " + to_what +
            " of device " + std::to_string(other));
  return true;
}

}  // namespace lzero::null_gpu

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = lzero::null_gpu::GetSettings().devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= lzero::null_gpu::GetSettings().devices) {
    return lzero::null_gpu::Fail(cudaErrorInvalidDevice);
  }
  current_device = device;
  lzero::null_gpu::MakeContext();  // since CUDA 12
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* facts, int /*device*/) {
  std::memset(facts, 0, sizeof(*facts));
  std::strcpy(facts->name, "Null GPU");
  facts->major = 9;
  facts->multiProcessorCount = kNumProcessors;
  facts->maxThreadsPerBlock = kMaxThreads;
  facts->maxThreadsPerMultiProcessor = 2048;
  facts->warpSize = kWarpSize;
  facts->sharedMemPerBlock = kSharedBytes;
  facts->sharedMemPerBlockOptin = kSharedBytesAtMost;
  facts->sharedMemPerMultiprocessor = kSharedBytesOfAll;
  facts->regsPerBlock = 65536;
  facts->maxGridSize[0] = 2147483647;
  facts->maxGridSize[1] = facts->maxGridSize[2] = 65535;
  facts->maxThreadsDim[0] = facts->maxThreadsDim[1] = kMaxThreads;
  facts->maxThreadsDim[2] = 64;
  facts->totalGlobalMem = lzero::null_gpu::GetSettings().memory_mib << 20;
  facts->textureAlignment = 512;
  facts->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = kNumProcessors;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = kMaxThreads;
      break;
    case cudaDevAttrWarpSize:
      *value = kWarpSize;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = kSharedBytes;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kSharedBytesAtMost;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = kSharedBytesOfAll;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
  *can = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", device);
  return cudaSuccess;
}

// The texts that programs show or compare.
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
    case cudaErrorStreamCaptureImplicit:
      return "operation would make the legacy stream depend on a capturing blocking stream";
    default:
      return "an error of the null GPU";
  }
}

const char* cudaGetErrorName(cudaError_t /*error*/) { return "cudaError"; }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* facts, const void* /*function*/) {
  lzero::null_gpu::MakeContext();
  *facts = {};
  facts->maxThreadsPerBlock = kMaxThreads;
  facts->binaryVersion = facts->ptxVersion = 90;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* /*f*/,
                                                                   int /*threads*/,
                                                                   size_t /*shared*/,
                                                                   unsigned int /*flags*/) {
  *count = 2;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* function,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, shared,
                                                                0);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* /*name*/, void** function,
                                             unsigned int /*version*/, unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = reinterpret_cast<void*>(&DoNothing);
  if (result != nullptr) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

// Names of the driver's header are not included: it declares all others.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C
int cuDevicePrimaryCtxGetState(int device, unsigned int* flags, int* is_active) {
  const lzero::null_gpu::Lock lock;
  *flags = 0;
  *is_active = static_cast<int>(Contexts().count(device));
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): a name of C
int cuCtxGetCurrent(void** context) {
  static int the_context = 0;
  *context = &the_context;
  return 0;
}

}  // extern "C"
