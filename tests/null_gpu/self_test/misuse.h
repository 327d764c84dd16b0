// What the misuse program breaks rules with, and its cases by subject.
#ifndef LZERO_TESTS_NULL_GPU_SELF_TEST_MISUSE_H_
#define LZERO_TESTS_NULL_GPU_SELF_TEST_MISUSE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace lzero::null_gpu {

inline constexpr size_t kSize = 1 << 16;

// Two streams that wait for nothing, and memory that both know.
struct Scene {
  Scene() {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaMalloc(&memory, kSize);
    cudaHostAlloc(&pinned, kSize, cudaHostAllocDefault);
  }
  void Close() const {
    cudaDeviceSynchronize();
    cudaFree(memory);
    cudaFreeHost(pinned);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  }
  // A graph that fills the memory.
  cudaGraphExec_t Capture() const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    cudaMemsetAsync(memory, 1, kSize, first);
    if (cudaStreamEndCapture(first, &graph) != cudaSuccess) return nullptr;
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    return made;
  }

  cudaStream_t first = nullptr, second = nullptr;
  void *memory = nullptr, *pinned = nullptr;
};

// Memory, a stream and an event of the second device.
struct Elsewhere {
  Elsewhere() {
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&memory, kSize);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaSetDevice(0);
  }
  ~Elsewhere() {
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    cudaFree(memory);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    cudaSetDevice(0);
  }

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
};

struct Case {
  const char* name;
  void (*run)(const Scene&);
  bool closes = true;  // the scene; else it is left as the case leaves it
};

std::vector<Case> StreamCases();  // and captures
std::vector<Case> TwoDeviceCases();
std::vector<Case> CallCases();  // memory, copies, kernels, and what nothing does
std::vector<Case> ProductCases();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_SELF_TEST_MISUSE_H_
