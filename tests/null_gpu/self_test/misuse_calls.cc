// Memory.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include "tests/null_gpu/self_test/misuse.h"

namespace lzero::null_gpu {
namespace {

void OutOfMemory(const Scene&) {
  void* memory = nullptr;
  std::printf("cudaMalloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, size_t{2} << 20)));
}

}  // namespace

std::vector<Case> CallCases() {
  return {{"out_of_memory", OutOfMemory}, {"left", [](const Scene&) {}, false}};
}

}  // namespace lzero::null_gpu
