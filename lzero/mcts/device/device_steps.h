// One root of a search that runs inside the memory of a device: begin, select, expand, finish. The
// lanes of a warp (base/lanes/one_lane.h) share the actions; sums keep the order of the host, so
// decisions are the same bit for bit. A CUDA kernel is one of these functions for each root
// (cuda/device_search.cu); compiled for the host, they are what tests without a device run.
#ifndef LZERO_MCTS_DEVICE_DEVICE_STEPS_H_
#define LZERO_MCTS_DEVICE_DEVICE_STEPS_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/device/device_arrays.h"
#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/root.h"
#include "lzero/mcts/tree/simulate.h"

namespace lzero {

// Whether a search can go on with these numbers: finite, but for the logits of actions that are not
// there, which may be -infinity: at the root where `legal` [A] is 0, below it (null) not
// everywhere.
template <typename Lanes>
LZ_HOST_DEVICE inline bool AreSound(const Lanes& lanes, float reward, float discount, float value,
                                    const float* prior_logits, const uint8_t* legal,
                                    int num_actions) {
  // The sum of x * 0 is 0 unless an x is infinite or not a number.
  float sum = reward * 0.0f + discount * 0.0f + value * 0.0f;
  if (!(sum == 0.0f)) return false;
  for (int a = lanes.lane(); a < num_actions; a += lanes.count()) sum += prior_logits[a] * 0.0f;
  if (lanes.Sum(sum) == 0.0f) return true;
  int num_there = 0;
  int num_sound = 0;
  for (int a = lanes.lane(); a < num_actions; a += lanes.count()) {
    const bool is_missing = prior_logits[a] == -kInfinity && (legal == nullptr || !legal[a]);
    num_there += !is_missing;
    num_sound += prior_logits[a] * 0.0f == 0.0f;
  }
  num_there = lanes.Sum(num_there);
  return num_there > 0 && num_there == lanes.Sum(num_sound);
}

LZ_HOST_DEVICE inline SelectContext ContextOf(const DeviceSearchArrays& search, int b) {
  const RootRecord& root = search.tree.root(b);
  return {&search.rules,
          &root,
          search.tree.num_actions,
          search.tree.padded_actions,
          search.inputs.switches->first_of_ties != 0,
          search.inputs.switches->has_noise != 0,
          search.scores + static_cast<int64_t>(b) * search.tree.padded_actions,
          TreeMinMaxScale(search.rules, root)};
}

LZ_HOST_DEVICE inline bool IsIdle(const DeviceSearchArrays& search, int b) {
  return b >= search.inputs.switches->num_roots;
}

// Forgets the last search of root `b` and prepares it for the next.
template <typename Lanes>
LZ_HOST_DEVICE inline void BeginRoot(const Lanes& lanes, const DeviceSearchArrays& search,
                                     const DeviceRootOutputs& outputs, int b) {
  if (lanes.lane() == 0) {
    search.progress[b] = {0, 0, -1, 0, 1};
    search.results.depth_sums[b] = 0;
    search.results.not_finite_at[b] = -1;
  }
  if (IsIdle(search, b)) return;
  const int64_t row = static_cast<int64_t>(b) * search.tree.num_actions;
  const float* prior_logits = outputs.prior_logits + row;
  const float value = outputs.values[b];
  const DeviceInputs& inputs = search.inputs;
  if (!AreSound(lanes, 0.0f, 0.0f, value, prior_logits, inputs.legal + row,
                search.tree.num_actions) &&
      lanes.lane() == 0) {
    search.results.not_finite_at[b] = 0;
  }
  BeginTree(
      lanes, search.tree, search.rules, b,
      {inputs.envs[b], inputs.tie_keys[b], value, prior_logits, inputs.legal + row,
       inputs.switches->has_noise != 0 ? inputs.noise + row : nullptr, search.tree.num_actions});
}

// Selects down tree `b` and asks about where that ended. An idle row asks about action 0 of node 0,
// which answers nobody.
template <typename Lanes>
LZ_HOST_DEVICE inline void SelectRoot(const Lanes& lanes, const DeviceSearchArrays& search,
                                      const DeviceQueries& queries, int b) {
  lanes.Join();  // what ExpandRoot wrote
  RootProgress& progress = search.progress[b];
  const bool is_idle = IsIdle(search, b);
  Leaf leaf = {};
  if (!is_idle) {
    leaf = SelectLeaf(lanes, search.tree, b, progress.next_node - 1, ContextOf(search, b));
  }
  if (lanes.lane() != 0) return;
  if (!is_idle) {
    progress = {leaf.parent, leaf.action, leaf.child, leaf.depth, progress.next_node};
    search.results.depth_sums[b] += leaf.depth;
  }
  queries.parents[b] = progress.parent;
  queries.actions[b] = progress.action;
  queries.children[b] = progress.next_node;
}

// Expands what SelectRoot asked about and backs the value up. From the first outputs that are not
// sound the tree of this root stays as it is: the search has failed, which its results say.
template <typename Lanes>
LZ_HOST_DEVICE inline void ExpandRoot(const Lanes& lanes, const DeviceSearchArrays& search,
                                      const DeviceStepOutputs& outputs, int b) {
  const RootProgress progress = search.progress[b];
  const int32_t node = progress.next_node;
  int32_t* not_finite_at = search.results.not_finite_at + b;
  const bool has_failed = *not_finite_at >= 0;
  lanes.Join();  // all have read these
  if (lanes.lane() == 0) search.progress[b].next_node = node + 1;
  if (IsIdle(search, b) || has_failed) return;
  const int64_t row = static_cast<int64_t>(b) * search.tree.num_actions;
  const NodeOutputs node_outputs = {outputs.rewards[b], outputs.discounts[b], outputs.values[b],
                                    outputs.prior_logits + row};
  if (AreSound(lanes, node_outputs.reward, node_outputs.discount, node_outputs.value,
               node_outputs.prior_logits, nullptr, search.tree.num_actions)) {
    const Leaf leaf = {progress.parent, progress.action, progress.child, progress.depth};
    ExpandAndBackUp(lanes, search.tree, b, node, leaf, node_outputs);
  } else if (lanes.lane() == 0) {
    *not_finite_at = node;
  }
}

// Writes the results of root `b`.
template <typename Lanes>
LZ_HOST_DEVICE inline void FinishRoot(const Lanes& lanes, const DeviceSearchArrays& search, int b) {
  if (IsIdle(search, b)) return;
  const int64_t row = static_cast<int64_t>(b) * search.tree.num_actions;
  const DeviceResults& results = search.results;
  FinishTree(lanes, search.tree, b, ContextOf(search, b),
             {results.visit_counts + row, results.q_values + row, results.action_weights + row,
              results.root_values + b, results.network_values + b, results.best_actions + b});
}

}  // namespace lzero

#endif  // LZERO_MCTS_DEVICE_DEVICE_STEPS_H_
