#include "lzero/mcts/tree.h"

#include <cmath>
#include <new>

namespace lzero {

namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t bytes, int64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

int64_t PaddedActions64(int64_t num_actions) { return RoundUp(num_actions, kLanes); }

int64_t NodeStride(int64_t padded_actions) {
  const int64_t arrays = 2 * sizeof(float) + 2 * sizeof(int32_t);
  return static_cast<int64_t>(sizeof(NodeRecord)) + padded_actions * arrays;
}

// Roots begin on a cache line, and an odd number of lines apart, so that node 0 of many roots does
// not fall into one set of the cache.
int64_t RootStride(int64_t node_stride, int64_t max_nodes) {
  const int64_t lines = RoundUp(node_stride * max_nodes, kAlignment) / kAlignment;
  return (lines | 1) * kAlignment;
}

int64_t RootRecordsBytes(int64_t max_roots) {
  return RoundUp(max_roots * static_cast<int64_t>(sizeof(RootRecord)), kAlignment);
}

int64_t RootActionsBytes(int64_t max_roots, int64_t padded_actions) {
  return RoundUp(max_roots * padded_actions * static_cast<int64_t>(sizeof(float)), kAlignment);
}

}  // namespace

void Tree::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kAlignment});
}

int64_t Tree::NumBytes(int64_t max_roots, int64_t max_nodes, int64_t num_actions) {
  const int64_t padded = PaddedActions64(num_actions);
  return max_roots * RootStride(NodeStride(padded), max_nodes) + RootRecordsBytes(max_roots) +
         2 * RootActionsBytes(max_roots, padded);
}

Tree::Tree(int max_roots, int max_nodes, int num_actions)
    : max_roots_(max_roots),
      max_nodes_(max_nodes),
      num_actions_(num_actions),
      padded_actions_(PaddedActions(num_actions)),
      node_stride_(NodeStride(padded_actions_)),
      root_stride_(RootStride(node_stride_, max_nodes)),
      num_bytes_(NumBytes(max_roots, max_nodes, num_actions)) {
  LZ_CHECK(max_roots > 0 && max_nodes > 0 && num_actions > 0, "got ", max_roots, " roots, ",
           max_nodes, " nodes, ", num_actions, " actions");
  memory_.reset(static_cast<std::byte*>(
      ::operator new (static_cast<size_t>(num_bytes_), std::align_val_t{kAlignment})));
  std::byte* at = memory_.get();
  nodes_ = at;
  at += max_roots_ * root_stride_;
  roots_ = reinterpret_cast<RootRecord*>(at);
  at += RootRecordsBytes(max_roots_);
  root_logits_ = reinterpret_cast<float*>(at);
  at += RootActionsBytes(max_roots_, padded_actions_);
  root_gumbel_ = reinterpret_cast<float*>(at);
}

int32_t Tree::depth(int b, int n) const {
  int32_t depth = 0;
  for (int32_t node = n; parent(b, node) >= 0; node = parent(b, node)) ++depth;
  return depth;
}

float Tree::prior(int b, int n, int a) const {
  const Node node = At(b, n);
  if (node.record->state == NodeState::kReady) return node.prior[a] > 0.0f ? node.prior[a] : 0.0f;
  double sum = 0.0;
  for (int i = 0; i < num_actions_; ++i) sum += std::exp(double{node.prior[i]} - node.prior[a]);
  return static_cast<float>(1.0 / sum);
}

double Tree::q_value(int b, int n, int a) const {
  const int32_t index = child(b, n, a);
  if (index < 0) return 0.0;
  const NodeRecord& record = *At(b, index).record;
  return record.reward + record.discount * record.MeanValue();
}

}  // namespace lzero
