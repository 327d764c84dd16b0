#include "lzero/mcts/tree/tree.h"

#include <cmath>
#include <new>

namespace lzero {

void Tree::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{TreeLayout::kAlignment});
}

int64_t Tree::NumBytes(int64_t max_roots, int64_t max_nodes, int64_t num_actions) {
  return TreeLayout::Of(max_roots, max_nodes, num_actions).num_bytes;
}

Tree::Tree(int max_roots, int max_nodes, int num_actions)
    : max_roots_(max_roots),
      max_nodes_(max_nodes),
      layout_(TreeLayout::Of(max_roots, max_nodes, num_actions)) {
  LZ_CHECK(max_roots > 0 && max_nodes > 0 && num_actions > 0, "got ", max_roots, " roots, ",
           max_nodes, " nodes, ", num_actions, " actions");
  memory_.reset(static_cast<std::byte*>(::operator new (static_cast<size_t>(layout_.num_bytes),
                                                        std::align_val_t{TreeLayout::kAlignment})));
  view_ = TreeView::Over(memory_.get(), layout_, num_actions);
}

int32_t Tree::depth(int b, int n) const {
  int32_t depth = 0;
  for (int32_t node = n; parent(b, node) >= 0; node = parent(b, node)) ++depth;
  return depth;
}

float Tree::prior(int b, int n, int a) const {
  const Node node = At(b, n);
  if (node.record->state() == NodeState::kReady) {
    return node.prior[a] > 0.0f ? node.prior[a] : 0.0f;
  }
  if (node.prior[a] == -kInfinity) return 0.0f;
  double sum = 0.0;
  for (int i = 0; i < num_actions(); ++i) sum += std::exp(double{node.prior[i]} - node.prior[a]);
  return static_cast<float>(1.0 / sum);
}

double Tree::q_value(int b, int n, int a) const {
  const int32_t index = child(b, n, a);
  if (index < 0) return 0.0;
  const NodeRecord& record = *At(b, index).record;
  return record.reward + record.discount * record.MeanValue();
}

}  // namespace lzero
