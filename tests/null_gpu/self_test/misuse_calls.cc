// Memory, copies, kernels, and what nothing here does.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include "tests/null_gpu/access.h"
#include "tests/null_gpu/self_test/misuse.h"
#include "tests/null_gpu/work.h"

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): nvcc writes it
extern "C" void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int,
                                       void*, void*, void*, void*, int*);

namespace lzero::null_gpu {
namespace {

void OutOfMemory(const Scene&) {
  void* memory = nullptr;
  std::printf("cudaMalloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, size_t{2} << 20)));
}

void FreedMemory(const Scene& scene) {
  void* memory = nullptr;
  cudaMalloc(&memory, kSize);
  cudaFree(memory);
  cudaMemsetAsync(memory, 1, kSize, scene.first);
}

void PastTheEnd(const Scene& scene) { cudaMemsetAsync(scene.memory, 1, kSize + 1, scene.first); }

void FreeOfPinned(const Scene& scene) { cudaFree(scene.pinned); }
void FreeHostOfNothing(const Scene&) {
  char byte = 0;
  cudaFreeHost(&byte);
}

// The next two as libtorch's allocator does, which keeps memory that was freed.
void GivenBackInUse(const Scene& scene) {
  cudaMemsetAsync(scene.memory, 1, kSize, scene.second);
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.second);
  MarkFreed(scene.memory, kSize, NumberOf(scene.first, 0));
}

void UsedAfterGivenBack(const Scene& scene) {
  MarkFreed(scene.memory, kSize, NumberOf(scene.first, 0));
  cudaMemsetAsync(scene.memory, 1, kSize, scene.first);
}

// Each wrong end once.
void WrongDirections(const Scene& scene) {
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    cudaMemcpyAsync(to, from, kSize, kind, scene.first);
  };
  copy(scene.pinned, scene.pinned, cudaMemcpyHostToDevice);
  copy(scene.memory, scene.memory, cudaMemcpyHostToDevice);
  copy(scene.pinned, scene.pinned, cudaMemcpyDeviceToHost);
  copy(scene.memory, scene.memory, cudaMemcpyDeviceToHost);
  copy(scene.memory, scene.pinned, cudaMemcpyDeviceToDevice);
  copy(scene.pinned, scene.memory, cudaMemcpyDeviceToDevice);
}

// Launches what nvcc would have named so.
cudaError_t Launch(const char* name, dim3 blocks, dim3 threads, cudaStream_t stream) {
  static const char kernel = 0;
  alignas(16) static char zeros[4096] = {};  // enough for the arguments of any kernel
  void* arguments[] = {zeros, zeros, zeros};
  __cudaRegisterFunction(nullptr, &kernel, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  return cudaLaunchKernel(&kernel, blocks, threads, arguments, 0, stream);
}

void UnknownKernel(const Scene& scene) { Launch("Strange", 1, 1, scene.first); }
void UnknownKernelOfOurs(const Scene& scene) { Launch("lzero::Strange", 1, 1, scene.first); }
void SearchWithoutWarps(const Scene& scene) { Launch("lzero::FinishKernel", 1, 64, scene.first); }

void ImpossibleSizes(const Scene& scene) {
  const dim3 sizes[][2] = {{0, 1},          {{1, 0}, 1},        {{1, 1, 0}, 1},
                           {{1, 65536}, 1}, {{1, 1, 65536}, 1}, {1, 0},
                           {1, {32, 32, 2}}};
  std::printf("launches:");
  for (const auto& [blocks, threads] : sizes) {
    std::printf(" %d", Launch("Strange", blocks, threads, scene.first));
  }
  std::printf("\n");
}

// As an operator does whose index is out of range.
void FailingWork(const Scene& scene) {
  Issue(scene.first, {"a kernel", [] { static_cast<void>(std::vector<int>().at(0)); }, {}});
}

void UnknownCall(const Scene& scene) {
  void* memory = nullptr;
  cudaMallocAsync(&memory, kSize, scene.first);
}

void UnknownEntryPoint(const Scene&) {
  void* function = nullptr;
  cudaGetDriverEntryPointByVersion("cuMemCreate", &function, 13000, 0, nullptr);
  reinterpret_cast<int (*)()>(function)();
}

}  // namespace

std::vector<Case> CallCases() {
  return {{"out_of_memory", OutOfMemory},
          {"left", [](const Scene&) {}, false},
          {"left_graph", [](const Scene& scene) { scene.Capture(); }},
          {"freed_memory", FreedMemory},
          {"past_the_end", PastTheEnd},
          {"free_of_pinned", FreeOfPinned},
          {"free_host_of_nothing", FreeHostOfNothing},
          {"given_back_in_use", GivenBackInUse},
          {"used_after_given_back", UsedAfterGivenBack},
          {"wrong_directions", WrongDirections},
          {"unknown_kernel", UnknownKernel},
          {"unknown_kernel_of_ours", UnknownKernelOfOurs},
          {"search_without_warps", SearchWithoutWarps},
          {"impossible_sizes", ImpossibleSizes},
          {"failing_work", FailingWork},
          {"unknown_call", UnknownCall},
          {"unknown_entry_point", UnknownEntryPoint}};
}

}  // namespace lzero::null_gpu
