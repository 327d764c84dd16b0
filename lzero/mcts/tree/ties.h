// Which of several equally good actions is taken: the first, or one drawn by a counter-based random
// number keyed by (seed, environment, search, node), so that neither time nor the order of threads
// matters. Pure functions, on the host and on a CUDA device with the same draws.
#ifndef LZERO_MCTS_TREE_TIES_H_
#define LZERO_MCTS_TREE_TIES_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/base/philox.h"

namespace lzero {

// The first of the `count` scores that equals `best`; 0 when none does. Lanes
// (base/lanes/one_lane.h) that share the scores get the same index, here and below.
template <typename Lanes>
LZ_HOST_DEVICE inline int FirstTie(const Lanes& lanes, const float* scores, int count, float best) {
  int first = count;
  for (int i = lanes.lane(); i < count; i += lanes.count()) {
    if (scores[i] == best) {
      first = i;
      break;
    }
  }
  first = -lanes.Max(-first);  // the smallest of all lanes
  return first < count ? first : 0;
}

// The index drawn among the `count` scores that equal `best`, which at least one does. `node` and
// its `visits` tell the decisions of one search apart.
template <typename Lanes>
LZ_HOST_DEVICE inline int BreakTie(const Lanes& lanes, const float* scores, int count, float best,
                                   uint64_t tie_key, int node, int visits) {
  int num_best = 0;
  int last = 0;
  for (int i = lanes.lane(); i < count; i += lanes.count()) {
    if (scores[i] == best) {
      ++num_best;
      last = i;
    }
  }
  num_best = lanes.Sum(num_best);
  last = lanes.Max(last);
  if (num_best <= 1) return last;
  const double draw =
      UniformAt(tie_key, static_cast<uint64_t>(node), static_cast<uint64_t>(visits));
  int rank = static_cast<int>(draw * num_best);
  for (int i = 0; i < last; ++i) {
    if (scores[i] == best && rank-- == 0) last = i;
  }
  lanes.Join();  // all have read the scores
  return last;
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_TIES_H_
