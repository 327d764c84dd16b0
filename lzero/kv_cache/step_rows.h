// What a step inside the memory of a device is told of each of its rows: where the parent's context
// lies in the cache, where the child's tokens go, and the action. Written by the host
// (KVCacheManager::LendStep) or by the kernel of a search (search_contexts.h).
#ifndef LZERO_KV_CACHE_STEP_ROWS_H_
#define LZERO_KV_CACHE_STEP_ROWS_H_

#include <cstdint>

#include "lzero/base/host_device.h"

namespace lzero {

// Where row b of a step finds what it needs: StepRows::row_size int64 numbers, written by the host
// or by the kernel of a search.
//   [0, W - 1)  slots of the parent's tokens, right-aligned; before them anything
//   W - 1       how many of them are tokens
//   W           the slot of the child's action token, its latent's follows; kIdleSlot: an idle row,
//               nothing is stored for it
//   W + 1 ...   the action: its number, or D float32 numbers, two in each
struct StepRows {
  const int64_t* numbers;  // [M, row_size]
  int32_t window;          // W - 1
  int32_t row_size;        // StepRowSize
};

inline constexpr int64_t kIdleSlot = -1;

LZ_HOST_DEVICE constexpr int StepRowSize(int window, int action_dim) {
  return window + 2 + (action_dim > 0 ? (action_dim + 1) / 2 : 1);
}

}  // namespace lzero

#endif  // LZERO_KV_CACHE_STEP_ROWS_H_
