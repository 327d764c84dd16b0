// Contexts of a search that runs inside the memory of a device. The functions find the slots of a
// node's window along the path from the node to its root, and copy between the cache and the model.
// The rules are those of the manager's index (internal/context_index.h), which lends the slots
// (KVCacheManager::LendNodes). A CUDA kernel is one of these functions for each block
// (cuda/search_contexts.cu); tests without a device run them compiled for the host.
#ifndef LZERO_KV_CACHE_SEARCH_CONTEXTS_H_
#define LZERO_KV_CACHE_SEARCH_CONTEXTS_H_

#include <cstdint>

#include "lzero/base/host_device.h"

namespace lzero {

// Where row b of a search finds its tokens: LentRowSize(window) int64 numbers, written by the host.
//   [0, window)  slots of the root's tokens, right-aligned, slot 0 (zeros) before them
//   window       how many of them are tokens
//   window + 1   the first slot of node 1; node n's two tokens: + 2 (n - 1). 0: the row is idle,
//                nothing is stored for it
LZ_HOST_DEVICE constexpr int64_t LentRowSize(int64_t window) { return window + 2; }

// Everything that does not change from step to step; pointers into the memory of the device. M rows
// at most, W - 1 tokens a context.
struct SearchContexts {
  float* pool;          // [num_slots, token_size] the manager's storage
  const int64_t* lent;  // [M, LentRowSize(W - 1)]
  int32_t* parents;     // [M, num_nodes] of the nodes stored in this search
  int64_t token_size;   // L * 2 * E
  int32_t window;       // W - 1
  int32_t num_nodes;
};

// One step of the model for the same rows.
struct ContextStep {
  // In: what the search asked.
  const int32_t* nodes;     // [M] parents
  const int32_t* actions;   // [M]
  const int32_t* children;  // [M]
  const float* tokens;      // [M, 2, token_size] the model's answer
  // Out: what the model reads.
  float* contexts;          // [M, W - 1, token_size], right-aligned, zeros before
  int64_t* lengths;         // [M]
  int64_t* action_numbers;  // [M]
};

// The slot of position `position` of the window of `node`.
LZ_HOST_DEVICE inline int64_t SlotAt(const SearchContexts& search, int row, int32_t node,
                                     int position) {
  const int64_t* lent = search.lent + row * LentRowSize(search.window);
  const int32_t* parents = search.parents + static_cast<int64_t>(row) * search.num_nodes;
  int from_newest = search.window - 1 - position;
  for (; node != 0 && from_newest >= 2; from_newest -= 2) node = parents[node];
  if (node == 0) return lent[search.window - 1 - from_newest];
  // The action's token comes before the latent's.
  return lent[search.window + 1] + 2 * (static_cast<int64_t>(node) - 1) + (1 - from_newest);
}

// Tokens in the window of `node`.
LZ_HOST_DEVICE inline int64_t LengthAt(const SearchContexts& search, int row, int32_t node) {
  const int64_t root_length = search.lent[row * LentRowSize(search.window) + search.window];
  const int32_t* parents = search.parents + static_cast<int64_t>(row) * search.num_nodes;
  int64_t own = 0;
  for (; node != 0 && own < search.window; own += 2) node = parents[node];
  return own + root_length < search.window ? own + root_length : search.window;
}

// The part of lane `lane` in a copy of floats [count] that `num_lanes` share.
LZ_HOST_DEVICE inline void CopyLane(float* to, const float* from, int64_t count, int lane,
                                    int num_lanes) {
  for (int64_t i = lane; i < count; i += num_lanes) to[i] = from[i];
}

// Writes what the model reads at `position` of `row`; position W - 1, one past the window, stands
// for the row's length and action.
LZ_HOST_DEVICE inline void GatherPosition(const SearchContexts& search, const ContextStep& step,
                                          int row, int position, int lane, int num_lanes) {
  if (position == search.window) {
    if (lane != 0) return;
    step.lengths[row] = LengthAt(search, row, step.nodes[row]);
    step.action_numbers[row] = step.actions[row];
    return;
  }
  const int64_t slot = SlotAt(search, row, step.nodes[row], position);
  const int64_t to = (static_cast<int64_t>(row) * search.window + position) * search.token_size;
  CopyLane(step.contexts + to, search.pool + slot * search.token_size, search.token_size, lane,
           num_lanes);
}

// Stores token `token` (0: the action's, 1: the latent's) of the child of `row`.
LZ_HOST_DEVICE inline void StoreChild(const SearchContexts& search, const ContextStep& step,
                                      int row, int token, int lane, int num_lanes) {
  const int64_t first = search.lent[row * LentRowSize(search.window) + search.window + 1];
  if (first == 0) return;
  const int32_t child = step.children[row];
  if (token == 0 && lane == 0) {
    search.parents[static_cast<int64_t>(row) * search.num_nodes + child] = step.nodes[row];
  }
  const int64_t slot = first + 2 * (static_cast<int64_t>(child) - 1) + token;
  const int64_t from = (static_cast<int64_t>(row) * 2 + token) * search.token_size;
  CopyLane(search.pool + slot * search.token_size, step.tokens + from, search.token_size, lane,
           num_lanes);
}

}  // namespace lzero

#endif  // LZERO_KV_CACHE_SEARCH_CONTEXTS_H_
