// Contexts of a search that runs inside the memory of a device. The functions find the slots of a
// node's window along the path from the node to its root; the model reads and writes there. The
// rules are those of the manager's index (internal/context_index.h), which lends the slots
// (KVCacheManager::LendNodes). A CUDA kernel is one of these functions for each block
// (cuda/search_contexts.cu); tests without a device run them compiled for the host.
#ifndef LZERO_KV_CACHE_SEARCH_CONTEXTS_H_
#define LZERO_KV_CACHE_SEARCH_CONTEXTS_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/kv_cache/step_rows.h"

namespace lzero {

// Where row b of a search finds its tokens: LentRowSize(window) int64 numbers, written by the host.
//   [0, window)  slots of the root's tokens, right-aligned, slot 0 (zeros) before them
//   window       how many of them are tokens
//   window + 1   the first slot of node 1; node n's two tokens: + 2 (n - 1). 0: the row is idle
LZ_HOST_DEVICE constexpr int64_t LentRowSize(int64_t window) { return window + 2; }

// Everything that does not change from step to step; pointers into the memory of the device. M rows
// at most, W - 1 tokens a context.
struct SearchContexts {
  const int64_t* lent;  // [M, LentRowSize(W - 1)]
  int32_t* parents;     // [M, num_nodes] of the nodes stored in this search
  int32_t window;       // W - 1
  int32_t num_nodes;
};

// One step of the model for the same rows.
struct ContextStep {
  // In: what the search asked.
  const int32_t* nodes;     // [M] parents
  const int32_t* actions;   // [M]
  const int32_t* children;  // [M]
  // Out: what the model reads, StepRowSize(W - 1, 0) numbers a row.
  int64_t* rows;
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

// Writes the numbers of `row` that the model reads, and which node the child hangs on. Lanes share
// the positions.
LZ_HOST_DEVICE inline void PrepareRow(const SearchContexts& search, const ContextStep& step,
                                      int row, int lane, int num_lanes) {
  const int32_t node = step.nodes[row], child = step.children[row];
  int64_t* numbers = step.rows + static_cast<int64_t>(row) * StepRowSize(search.window, 0);
  for (int position = lane; position < search.window; position += num_lanes) {
    numbers[position] = SlotAt(search, row, node, position);
  }
  if (lane != 0) return;
  const int64_t first = search.lent[row * LentRowSize(search.window) + search.window + 1];
  numbers[search.window] = LengthAt(search, row, node);
  numbers[search.window + 1] =
      first == 0 ? kIdleSlot : first + 2 * (static_cast<int64_t>(child) - 1);
  numbers[search.window + 2] = step.actions[row];
  search.parents[static_cast<int64_t>(row) * search.num_nodes + child] = node;
}

}  // namespace lzero

#endif  // LZERO_KV_CACHE_SEARCH_CONTEXTS_H_
