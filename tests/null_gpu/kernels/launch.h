// A launch of a kernel, and the bytes that its work uses. To be included before code of lzero that
// runs in kernels.
#ifndef LZERO_TESTS_NULL_GPU_KERNELS_LAUNCH_H_
#define LZERO_TESTS_NULL_GPU_KERNELS_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "lzero/base/host_device.h"
#include "tests/null_gpu/work.h"

// As in a kernel: a check would need absl, which is not put under programs.
#undef LZ_HOST_CHECK
#define LZ_HOST_CHECK(condition, ...) static_cast<void>(0)

namespace lzero::null_gpu {

struct Launch {
  dim3 blocks;
  dim3 threads;
  void** arguments;

  int rows() const { return static_cast<int>(blocks.x); }
  template <typename T>
  const T& Argument(int i) const {
    return *static_cast<const T*>(arguments[i]);
  }
};

template <typename T>
inline Range Reads(const T* begin, int64_t count) {
  return {begin, static_cast<size_t>(count) * sizeof(T), false};
}
template <typename T>
inline Range Writes(T* begin, int64_t count) {
  return {begin, static_cast<size_t>(count) * sizeof(T), true};
}

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_KERNELS_LAUNCH_H_
