// The CUDA devices of this machine, for `lzero doctor`. Part of liblzero_cuda, the only library
// that needs CUDA; it is loaded at run time (tensor/cuda_library.h), so its interface is plain C.
#include <cuda_runtime.h>

#include <cstdio>

namespace {

// cudaGetErrorString calls a driver that is not there too old.
void DescribeError(cudaError_t error, char* text, size_t size) {
  int driver = 0;
  if (error != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess) {
    std::snprintf(text, size, "%s", cudaGetErrorString(error));
  } else if (driver == 0) {
    std::snprintf(text, size, "no NVIDIA driver is installed");
  } else {
    std::snprintf(text, size, "the NVIDIA driver is for CUDA %d.%d, this program needs %d.%d",
                  driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                  CUDART_VERSION % 1000 / 10);
  }
}

}  // namespace

// Bytes of a device that are free, and all of it, to `free_bytes` and `total_bytes`. The device is
// the current one of the calling thread from then on, and has a context. Returns 0 or an error of
// CUDA, with its description in `text` (at most `size` bytes with the closing 0).
extern "C" int lz_cuda_memory(int device, size_t* free_bytes, size_t* total_bytes, char* text,
                              size_t size) {
  cudaError_t asked = cudaSetDevice(device);
  if (asked == cudaSuccess) asked = cudaMemGetInfo(free_bytes, total_bytes);
  if (asked != cudaSuccess) DescribeError(asked, text, size);
  return static_cast<int>(asked);
}

// Writes "name, compute capability, memory" for each device, lines separated by '\n', to `text` (at
// most `size` bytes with the closing 0). Asks for properties alone: a question about free memory
// would make a context on each device, and leave another one current. Returns the number of
// devices; a negative CUDA error code, with its description in `text`, when the driver cannot be
// asked.
extern "C" int lz_cuda_list_devices(char* text, size_t size) {
  int count = 0;
  const cudaError_t asked = cudaGetDeviceCount(&count);
  if (asked != cudaSuccess) {
    DescribeError(asked, text, size);
    return asked == cudaErrorNoDevice ? 0 : -static_cast<int>(asked);
  }
  size_t used = 0;
  text[0] = '\0';
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp facts = {};
    if (cudaGetDeviceProperties(&facts, device) != cudaSuccess) {
      std::snprintf(facts.name, sizeof(facts.name), "a device that tells nothing of itself");
    }
    const int written = std::snprintf(text + used, size - used, "%s%s, sm_%d%d, %.1f GiB",
                                      used == 0 ? "" : "\n", facts.name, facts.major, facts.minor,
                                      static_cast<double>(facts.totalGlobalMem) / (1 << 30));
    if (written < 0 || used + written >= size) break;
    used += written;
  }
  return count;
}
