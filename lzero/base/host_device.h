// Functions that run on the host and inside CUDA kernels carry LZ_HOST_DEVICE. Such code is C++17,
// uses no std containers and no absl, and gives the same bits on both sides when the CUDA side is
// compiled with -fmad=false (no fused multiply-add; division and square roots are IEEE's anyway).
// Macros, and the type of a device's queue without the headers of CUDA.
#ifndef LZERO_BASE_HOST_DEVICE_H_
#define LZERO_BASE_HOST_DEVICE_H_

struct CUstream_st;  // cudaStream_t and at::cuda::CUDAStream::stream() are pointers to it

namespace lzero {

// The queue of a device that work is put on.
using DeviceStream = CUstream_st*;

}  // namespace lzero

#ifdef __CUDACC__
#define LZ_HOST_DEVICE __host__ __device__
#define LZ_UNROLL _Pragma("unroll")
// A check that is made on the host alone: where nvcc compiles there is nobody to print to.
#define LZ_HOST_CHECK(condition, ...) \
  do {                                \
  } while (false)
#else
#include "lzero/base/check.h"
#define LZ_HOST_DEVICE
// Before a loop whose count is known when it is compiled: no loop.
#ifdef __clang__
#define LZ_UNROLL _Pragma("unroll")
#else
#define LZ_UNROLL _Pragma("GCC unroll 16")
#endif
#define LZ_HOST_CHECK(condition, ...) LZ_CHECK(condition, __VA_ARGS__)
#endif

#endif  // LZERO_BASE_HOST_DEVICE_H_
