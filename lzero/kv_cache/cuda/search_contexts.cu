// The device's side of context_functions.h: a block for each position of each row, whose threads
// share the copy of one token. Part of liblzero_cuda, so what leaves this file is plain C.
#include <cuda_runtime.h>

#include "lzero/kv_cache/context_functions.h"

namespace lzero {
namespace {

constexpr int kThreads = 128;

__global__ void GatherKernel(const __grid_constant__ SearchContexts search,
                             const __grid_constant__ ContextStep step) {
  GatherPosition(search, step, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x),
                 static_cast<int>(threadIdx.x), kThreads);
}

__global__ void StoreKernel(const __grid_constant__ SearchContexts search,
                            const __grid_constant__ ContextStep step) {
  StoreChild(search, step, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x),
             static_cast<int>(threadIdx.x), kThreads);
}

const char* ErrorText(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int Gather(const SearchContexts* search, const ContextStep* step, int num_rows,
           DeviceStream stream) {
  const dim3 blocks(static_cast<unsigned int>(search->window) + 1,
                    static_cast<unsigned int>(num_rows));
  GatherKernel<<<blocks, kThreads, 0, stream>>>(*search, *step);
  return cudaGetLastError();
}

int Store(const SearchContexts* search, const ContextStep* step, int num_rows,
          DeviceStream stream) {
  const dim3 blocks(2, static_cast<unsigned int>(num_rows));
  StoreKernel<<<blocks, kThreads, 0, stream>>>(*search, *step);
  return cudaGetLastError();
}

}  // namespace
}  // namespace lzero

// The table of functions, or null when the caller was built with other ones
// (lzero::kContextFunctionsVersion).
extern "C" const lzero::ContextFunctions* lz_cuda_context_functions(size_t version) {
  static const lzero::ContextFunctions functions = {lzero::ErrorText, lzero::Gather, lzero::Store};
  return version == lzero::kContextFunctionsVersion ? &functions : nullptr;
}
