// Functions that find contexts in the memory of a device, as one table. A library gives it under
// one name (lz_cuda_context_functions in liblzero_cuda), so that kv_cache itself links no CUDA. All
// return 0 or an error code of the device. They put work on the stream and return at once, allocate
// and wait for nothing, so that a graph can capture them.
#ifndef LZERO_KV_CACHE_CONTEXT_FUNCTIONS_H_
#define LZERO_KV_CACHE_CONTEXT_FUNCTIONS_H_

#include <cstddef>

#include "lzero/base/host_device.h"
#include "lzero/kv_cache/search_contexts.h"

namespace lzero {

struct ContextFunctions {
  const char* (*error_text)(int error);
  // PrepareRow for rows 0 .. num_rows - 1. Both structs hold pointers into the memory of the
  // device; search_contexts.h says their shapes.
  int (*prepare_rows)(const SearchContexts* search, const ContextStep* step, int num_rows,
                      DeviceStream stream);
};

// Distinguishes builds whose tables or arrays differ: a number to raise when their order or meaning
// changes, and their sizes.
inline constexpr size_t kContextFunctionsVersion =
    2 + sizeof(ContextFunctions) + 1000 * sizeof(SearchContexts) + 1000000 * sizeof(ContextStep);

}  // namespace lzero

#endif  // LZERO_KV_CACHE_CONTEXT_FUNCTIONS_H_
