// The device's side of context_functions.h: a warp for each row, whose lanes share its positions.
// Part of liblzero_cuda, so what leaves this file is plain C.
#include <cuda_runtime.h>

#include "lzero/kv_cache/context_functions.h"

namespace lzero {
namespace {

constexpr int kThreads = 32;

__global__ void PrepareRowsKernel(const __grid_constant__ SearchContexts search,
                                  const __grid_constant__ ContextStep step) {
  PrepareRow(search, step, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), kThreads);
}

const char* ErrorText(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int PrepareRows(const SearchContexts* search, const ContextStep* step, int num_rows,
                DeviceStream stream) {
  PrepareRowsKernel<<<static_cast<unsigned int>(num_rows), kThreads, 0, stream>>>(*search, *step);
  return cudaGetLastError();
}

}  // namespace
}  // namespace lzero

// The table of functions, or null when the caller was built with other ones
// (lzero::kContextFunctionsVersion).
extern "C" const lzero::ContextFunctions* lz_cuda_context_functions(size_t version) {
  static const lzero::ContextFunctions functions = {lzero::ErrorText, lzero::PrepareRows};
  return version == lzero::kContextFunctionsVersion ? &functions : nullptr;
}
