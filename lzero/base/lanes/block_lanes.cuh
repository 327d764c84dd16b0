// The lanes of one_lane.h on a CUDA device: the threads of a block. Integers and Read need a block
// that is one warp.
#ifndef LZERO_BASE_LANES_BLOCK_LANES_CUH_
#define LZERO_BASE_LANES_BLOCK_LANES_CUH_

#include <cuda_runtime.h>

namespace lzero {

inline constexpr int kWarp = 32;
inline constexpr int kMostThreads = 1024;  // of a block
inline constexpr int kAnyThreads = 0;      // as many as the block was launched with

template <int NumThreads>
struct BlockLanes {
  __device__ static constexpr int count() {
    return NumThreads == kAnyThreads ? static_cast<int>(blockDim.x) : NumThreads;
  }
  __device__ int lane() const { return static_cast<int>(threadIdx.x); }
  __device__ void Join() const {
    if constexpr (NumThreads == kWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  __device__ float Sum(float x) const {
    return Joined(x, [](float a, float b) { return a + b; });
  }
  __device__ float Max(float x) const {
    return Joined(x, [](float a, float b) { return fmaxf(a, b); });
  }
  __device__ int Sum(int x) const {
    static_assert(NumThreads == kWarp);
    return __reduce_add_sync(kAll, x);
  }
  __device__ int Max(int x) const {
    static_assert(NumThreads == kWarp);
    return __reduce_max_sync(kAll, x);
  }
  template <typename T>
  __device__ T Read(T x, int lane) const {
    static_assert(NumThreads == kWarp);
    return __shfl_sync(kAll, x, lane);
  }

 private:
  static constexpr unsigned int kAll = 0xffffffffu;

  // The same number in every thread.
  template <typename Operation>
  __device__ float Joined(float x, Operation operation) const {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      x = operation(x, __shfl_xor_sync(kAll, x, distance));
    }
    if (NumThreads == kWarp) return x;
    __shared__ float of_warps[(NumThreads == kAnyThreads ? kMostThreads : NumThreads) / kWarp];
    __syncthreads();  // the numbers of the call before have been read
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = x;
    __syncthreads();
    x = of_warps[0];
    for (int warp = 1; warp < count() / kWarp; ++warp) x = operation(x, of_warps[warp]);
    return x;
  }
};

}  // namespace lzero

#endif  // LZERO_BASE_LANES_BLOCK_LANES_CUH_
