// What the inner loops of selection know when they are compiled: nothing (AnyKind reads policy and
// q transform at every node and counts its loops), or both and the number of groups of lanes that a
// node has (FixedKind: no branches on rules, loops without counters). The same operations in the
// same order, so the same bits. Types only.
#ifndef LZERO_MCTS_TREE_SEARCH_KIND_H_
#define LZERO_MCTS_TREE_SEARCH_KIND_H_

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// kNumWalks: how many walks take turns on the host; the more arithmetic a level has, the fewer fit
// into a processor's window. kInPairs: two of them step at once. kActionsAbreast > 0: four of them
// do, at nodes of so many actions (select_abreast.h). kHasChance: every second level of the tree is
// chance nodes.
struct AnyKind {
  static constexpr int kGroups = 0;  // any number of them
  static constexpr int kNumWalks = 4;
  static constexpr bool kInPairs = false;
  static constexpr int kActionsAbreast = 0;
  static constexpr bool kHasChance = false;
  LZ_HOST_DEVICE static SearchPolicy Policy(const RuleNumbers& rules) { return rules.policy; }
  LZ_HOST_DEVICE static QTransform Transform(const RuleNumbers& rules) { return rules.q_transform; }
  LZ_HOST_DEVICE static int Padded(int padded_actions) { return padded_actions; }
  LZ_HOST_DEVICE static Node At(const RootNodes& nodes, int64_t n) { return nodes[n]; }
};

// For trees with chance nodes, any rules.
struct ChanceKind : AnyKind {
  static constexpr bool kHasChance = true;
};

// For rules with this policy and transform; NumGroups > 0: for nodes of so many groups.
template <SearchPolicy FixedPolicy, QTransform FixedTransform, int NumGroups>
struct FixedKind {
  static constexpr QTransform kTransform = FixedTransform;
  static constexpr int kGroups = NumGroups;
  static constexpr bool kInPairs = FixedPolicy == SearchPolicy::kGumbel && NumGroups == 2;
  static constexpr int kNumWalks = FixedPolicy == SearchPolicy::kPuct || kInPairs ? 8 : 4;
  static constexpr int kActionsAbreast = 0;
  static constexpr bool kHasChance = false;
  LZ_HOST_DEVICE static SearchPolicy Policy(const RuleNumbers&) { return FixedPolicy; }
  LZ_HOST_DEVICE static QTransform Transform(const RuleNumbers&) { return FixedTransform; }
  LZ_HOST_DEVICE static int Padded(int padded_actions) {
    return NumGroups > 0 ? NumGroups * kLanes : padded_actions;
  }
  LZ_HOST_DEVICE static Node At(const RootNodes& nodes, int64_t n) {
    if (NumGroups == 0) return nodes[n];
    return RootNodes{nodes.first, TreeLayout::NodeStride(NumGroups * kLanes),
                     NumGroups * kLanes}[n];
  }
};

// For Gumbel where nodes have so many actions, one group of lanes. As many walks as it takes to
// hide the way to the next node from far memory.
template <QTransform FixedTransform, int NumActions>
struct AbreastKind : FixedKind<SearchPolicy::kGumbel, FixedTransform, 1> {
  static constexpr int kActionsAbreast = NumActions;
  static constexpr int kNumWalks = 24;
};

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SEARCH_KIND_H_
