// Whether two searches left the same trees and results, bit for bit. For tests.
#ifndef LZERO_TESTS_MCTS_SAME_TREES_H_
#define LZERO_TESTS_MCTS_SAME_TREES_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/mcts/search_request.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

template <typename T>
bool SameBits(const T* a, const T* b, int64_t count) {
  return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(T)) == 0;
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && SameBits(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

inline void ExpectSameNode(const Node& expected, const Node& got, int padded_actions) {
  if (expected.record->visits == 0) {  // never expanded: nothing else is valid
    EXPECT_EQ(got.record->visits, 0);
    return;
  }
  static_assert(sizeof(NodeRecord) == 48, "a record without gaps");
  EXPECT_TRUE(SameBits(expected.record, got.record, 1));
  EXPECT_TRUE(SameBits(expected.prior, got.prior, padded_actions));
  if (expected.record->state() == NodeState::kLeaf) return;
  EXPECT_TRUE(SameBits(expected.q, got.q, padded_actions));
  EXPECT_TRUE(SameBits(expected.visits, got.visits, padded_actions));
  EXPECT_TRUE(SameBits(expected.child, got.child, padded_actions));
}

// The trees of `num_roots` roots with `num_nodes` node slots each.
inline void ExpectSameTrees(const TreeView& expected, const TreeView& got, int num_roots,
                            int num_nodes) {
  static_assert(sizeof(RootRecord) == 24, "a record without gaps");
  for (int b = 0; b < num_roots; ++b) {
    EXPECT_TRUE(SameBits(&expected.root(b), &got.root(b), 1)) << "root " << b;
    for (int n = 0; n < num_nodes; ++n) {
      ExpectSameNode(expected.nodes(b)[n], got.nodes(b)[n], expected.padded_actions);
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "root " << b << ", node " << n;
        return;
      }
    }
  }
}

// `exact_weights`: the action weights too; the double exp of a CUDA device may differ by one unit
// of its last place.
inline void ExpectSameResults(const SearchResult& expected, const SearchResult& got,
                              bool exact_weights = true) {
  EXPECT_EQ(expected.num_roots, got.num_roots);
  EXPECT_EQ(expected.num_actions, got.num_actions);
  EXPECT_TRUE(SameBits(expected.visit_counts, got.visit_counts));
  EXPECT_TRUE(SameBits(expected.root_values, got.root_values));
  EXPECT_TRUE(SameBits(expected.network_values, got.network_values));
  ASSERT_EQ(expected.action_weights.size(), got.action_weights.size());
  for (size_t i = 0; i < got.action_weights.size(); ++i) {
    EXPECT_NEAR(expected.action_weights[i], got.action_weights[i], exact_weights ? 0.0 : 1e-7);
  }
  EXPECT_TRUE(SameBits(expected.best_actions, got.best_actions));
  EXPECT_TRUE(SameBits(expected.q_values, got.q_values));
  EXPECT_EQ(expected.mean_depth, got.mean_depth);
}

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_SAME_TREES_H_
