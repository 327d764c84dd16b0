// Functions that run on the host and inside CUDA kernels carry LZ_HOST_DEVICE. Such code is C++17,
// uses no std containers and no absl, and gives the same bits on both sides when the CUDA side is
// compiled with -fmad=false (no fused multiply-add; division and square roots are IEEE's anyway).
// Macros only.
#ifndef LZERO_BASE_HOST_DEVICE_H_
#define LZERO_BASE_HOST_DEVICE_H_

#ifdef __CUDACC__
#define LZ_HOST_DEVICE __host__ __device__
// A check that is made on the host alone: where nvcc compiles there is nobody to print to.
#define LZ_HOST_CHECK(condition, ...) \
  do {                                \
  } while (false)
#else
#include "lzero/base/check.h"
#define LZ_HOST_DEVICE
#define LZ_HOST_CHECK(condition, ...) LZ_CHECK(condition, __VA_ARGS__)
#endif

#endif  // LZERO_BASE_HOST_DEVICE_H_
