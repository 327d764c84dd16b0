// The arrays of a search that runs inside the memory of a device: the trees, what the host writes
// before a search (inputs) and what it reads after it (results), each of the three one block, so
// that a search costs one copy in and one out. Everything that changes from search to search is in
// the inputs, so that launches over these arrays can be captured once and replayed. Owns nothing.
#ifndef LZERO_MCTS_DEVICE_DEVICE_ARRAYS_H_
#define LZERO_MCTS_DEVICE_DEVICE_ARRAYS_H_

#include <cstddef>
#include <cstdint>

#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// Hands out arrays one after another from a block, each on a 64-byte boundary.
class BlockCursor {
 public:
  explicit BlockCursor(void* block) : at_(reinterpret_cast<uintptr_t>(block)) {}

  template <typename T>
  T* Take(int64_t count) {
    T* first = reinterpret_cast<T*>(at_);
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    at_ += static_cast<uintptr_t>(TreeLayout::RoundUp(bytes, TreeLayout::kAlignment));
    return first;
  }
  // Bytes handed out, for a block that began at null.
  int64_t num_bytes() const { return static_cast<int64_t>(at_); }

 private:
  uintptr_t at_;
};

// The same for all roots of one search.
struct DeviceSwitches {
  int32_t num_roots;  // rows after them are idle: nothing is searched there
  int32_t has_noise;
  int32_t first_of_ties;  // otherwise ties are drawn
};

// Written by the host (device_exchange.h).
struct DeviceInputs {
  DeviceSwitches* switches;  // one
  int32_t* envs;             // [B]
  uint64_t* tie_keys;        // [B], see tie_key.h
  double* noise;             // [B, A], see root_noise.h
  uint8_t* legal;            // [B, A], 1 = legal

  static DeviceInputs Over(BlockCursor* cursor, int64_t num_roots, int64_t num_actions) {
    DeviceInputs inputs;
    inputs.switches = cursor->Take<DeviceSwitches>(1);
    inputs.envs = cursor->Take<int32_t>(num_roots);
    inputs.tie_keys = cursor->Take<uint64_t>(num_roots);
    inputs.noise = cursor->Take<double>(num_roots * num_actions);
    inputs.legal = cursor->Take<uint8_t>(num_roots * num_actions);
    return inputs;
  }
};

// Written by the device, rows in the order of the roots; the meaning is SearchResult's.
struct DeviceResults {
  int32_t* visit_counts;   // [B, A]
  float* q_values;         // [B, A]
  float* action_weights;   // [B, A]
  float* root_values;      // [B]
  float* network_values;   // [B]
  int32_t* best_actions;   // [B]
  int32_t* not_finite_at;  // [B] the first node with outputs that are not sound; -1: none
  int64_t* depth_sums;     // [B] of the leaves

  static DeviceResults Over(BlockCursor* cursor, int64_t num_roots, int64_t num_actions) {
    DeviceResults results;
    results.visit_counts = cursor->Take<int32_t>(num_roots * num_actions);
    results.q_values = cursor->Take<float>(num_roots * num_actions);
    results.action_weights = cursor->Take<float>(num_roots * num_actions);
    results.root_values = cursor->Take<float>(num_roots);
    results.network_values = cursor->Take<float>(num_roots);
    results.best_actions = cursor->Take<int32_t>(num_roots);
    results.not_finite_at = cursor->Take<int32_t>(num_roots);
    results.depth_sums = cursor->Take<int64_t>(num_roots);
    return results;
  }
};

// The model's answers about roots, in the memory of the device.
struct DeviceRootOutputs {
  const float* prior_logits;  // [B, A]
  const float* values;        // [B]
};

// What the model is asked next, in the memory of the device.
struct DeviceQueries {
  int32_t* parents;   // [B] nodes
  int32_t* actions;   // [B]
  int32_t* children;  // [B] nodes to store the answers under
};

// The model's answers to DeviceQueries.
struct DeviceStepOutputs {
  const float* rewards;       // [B]
  const float* discounts;     // [B]
  const float* values;        // [B]
  const float* prior_logits;  // [B, A]
};

// Where the last selection of a root ended, and how many nodes the root has.
struct RootProgress {
  int32_t parent;
  int32_t action;
  int32_t child;
  int32_t depth;
  int32_t next_node;
};

// Everything that the functions of device_steps.h need, to be passed to a kernel by value.
struct DeviceSearchArrays {
  RulesView rules;  // its tables in the device's memory too
  TreeView tree;
  DeviceInputs inputs;
  DeviceResults results;
  RootProgress* progress;  // [B]
  float* scores;           // [B, P] scratch of selection
};

// Trees, progress and scratch in one block: the part that never leaves the device.
struct DeviceWork {
  std::byte* tree_memory;
  RootProgress* progress;  // [B]
  float* scores;           // [B, P]

  static DeviceWork Over(BlockCursor* cursor, int64_t num_roots, int num_actions,
                         const TreeLayout& layout) {
    DeviceWork work;
    work.tree_memory = cursor->Take<std::byte>(layout.num_bytes);
    work.progress = cursor->Take<RootProgress>(num_roots);
    work.scores = cursor->Take<float>(num_roots * PaddedActions(num_actions));
    return work;
  }
};

}  // namespace lzero

#endif  // LZERO_MCTS_DEVICE_DEVICE_ARRAYS_H_
