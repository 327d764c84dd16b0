#include "lzero/mcts/walk.h"

#include <array>

#include "lzero/mcts/lanes.h"
#include "lzero/mcts/search_kind.h"
#include "lzero/mcts/select.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LZ_AVX2 __attribute__((target("avx2")))
#else
#define LZ_AVX2
#endif
// Everything inline, so that it is compiled with the instructions of its caller.
#define LZ_FLATTEN __attribute__((flatten))

namespace lzero {

namespace {

SelectContext ContextOf(const WalkBatch& batch, int b) {
  const RootRecord& root = batch.tree.root(b);
  return {batch.rules,
          &root,
          batch.tree.num_actions,
          batch.tree.padded_actions,
          batch.first_of_ties,
          batch.scores,
          TreeMinMaxScale(*batch.rules, root)};
}

void Write(const WalkBatch& batch, int b, const Leaf& leaf) {
  batch.leaves[b] = leaf;
  batch.parents[b] = NodeId(leaf.parent);
  batch.actions[b] = leaf.action;
  batch.children[b] = NodeId(batch.simulation + 1);
}

// Nodes of so many bytes are in the caches of a core; above, the next node of a walk is asked for
// while the other walks take their turns.
constexpr int64_t kNearBytes = int64_t{1} << 20;

inline bool AreFar(const TreeView& tree, int num_roots, int simulation) {
  return tree.node_stride * (simulation + 1) * num_roots > kNearBytes;
}

inline void PrefetchNode(const RootNodes& nodes, int64_t n) {
  const std::byte* node = nodes.first + n * nodes.node_stride;
  for (int64_t at = 0; at < nodes.node_stride; at += 64) LZ_PREFETCH(node + at);
}

template <class Kind>
inline int64_t WalkAll(const WalkBatch& batch) {
  // Several walks take turns, so that one's loads and arithmetic overlap with the others'.
  Cursor walks[Kind::kNumWalks];
  Cursor* end = walks;
  int next_root = 0;
  int64_t depth_sum = 0;
  const bool are_far = AreFar(batch.tree, batch.num_roots, batch.simulation);
  const auto begin = [&] {
    const int b = next_root++;
    if (are_far && next_root < batch.num_roots) PrefetchNode(batch.tree.nodes(next_root), 0);
    return Cursor{ContextOf(batch, b), batch.tree.nodes(b), b};
  };
  while (end < walks + Kind::kNumWalks && next_root < batch.num_roots) *end++ = begin();
  while (end > walks) {
    for (Cursor* walk = walks; walk < end; ++walk) {
      Leaf leaf;
      if (!Step<Kind>(batch.tree, batch.simulation, walk, &leaf)) {
        if (are_far) PrefetchNode(walk->nodes, walk->node);
        continue;
      }
      Write(batch, walk->root, leaf);
      depth_sum += leaf.depth;
      if (next_root < batch.num_roots) {
        *walk = begin();
      } else {
        *walk-- = *--end;
      }
    }
  }
  return depth_sum;
}

// The leaf of tree `b`, expanded.
inline int Expand(const ClimbBatch& batch, int b) {
  return ExpandLeaf(batch.tree, b, batch.simulation + 1, batch.leaves[b],
                    {batch.rewards[b], batch.discounts[b], batch.values[b],
                     batch.prior_logits + int64_t{b} * batch.tree.num_actions});
}

// Climbs take turns as walks do.
inline void ClimbInTurn(const ClimbBatch& batch) {
  constexpr int kNumClimbs = 4;
  struct Turn {
    Climb climb;
    int root;
  };
  Turn turns[kNumClimbs];
  int next_root = 0;
  int num_turns = 0;
  const auto begin = [&] {
    const int b = next_root++;
    return Turn{BeginClimb(batch.tree, b, Expand(batch, b)), b};
  };
  while (num_turns < kNumClimbs && next_root < batch.num_roots) turns[num_turns++] = begin();
  while (num_turns > 0) {
    for (int t = 0; t < num_turns; ++t) {
      Climb& climb = turns[t].climb;
      ClimbStep(&climb);
      if (climb.child->parent >= 0) {
        continue;
      }
      EndClimb(batch.tree, turns[t].root, climb);
      if (next_root < batch.num_roots) {
        turns[t] = begin();
      } else {
        turns[t--] = turns[--num_turns];
      }
    }
  }
}

inline void ClimbAll(const ClimbBatch& batch) {
  if (AreFar(batch.tree, batch.num_roots, batch.simulation)) return ClimbInTurn(batch);
  for (int b = 0; b < batch.num_roots; ++b) BackUp(batch.tree, b, Expand(batch, b));
}

// What a walk is compiled with.
struct Base {
  template <class Kind>
  LZ_FLATTEN static int64_t Walk(const WalkBatch& batch) {
    return WalkAll<Kind>(batch);
  }
  LZ_FLATTEN static void Climb(const ClimbBatch& batch) { ClimbAll(batch); }
};
struct Avx2 {
  template <class Kind>
  LZ_FLATTEN LZ_AVX2 static int64_t Walk(const WalkBatch& batch) {
    return WalkAll<Kind>(batch);
  }
  LZ_FLATTEN LZ_AVX2 static void Climb(const ClimbBatch& batch) { ClimbAll(batch); }
};

template <class Compiled, SearchPolicy policy, QTransform transform>
WalkFunction ChooseGroups(int num_groups) {
  switch (num_groups) {
    case 1:
      return Compiled::template Walk<FixedKind<policy, transform, 1>>;
    case 2:
      return Compiled::template Walk<FixedKind<policy, transform, 2>>;
    case 5:
      return Compiled::template Walk<FixedKind<policy, transform, 5>>;
    default:
      return Compiled::template Walk<FixedKind<policy, transform, 0>>;
  }
}

// The transforms that configs use are compiled apart, the others together.
template <class Compiled>
WalkFunction ChooseKind(const RuleNumbers& rules, int num_groups) {
  const bool puct = rules.policy == SearchPolicy::kPuct;
  if (rules.q_transform == QTransform::kTreeMinMax) {
    return puct
               ? ChooseGroups<Compiled, SearchPolicy::kPuct, QTransform::kTreeMinMax>(num_groups)
               : ChooseGroups<Compiled, SearchPolicy::kGumbel, QTransform::kTreeMinMax>(num_groups);
  }
  if (rules.q_transform == QTransform::kCompletedByMixValue && !puct) {
    return ChooseGroups<Compiled, SearchPolicy::kGumbel, QTransform::kCompletedByMixValue>(
        num_groups);
  }
  return Compiled::template Walk<AnyKind>;
}

}  // namespace

Instructions BestInstructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) return Instructions::kAvx2;
#endif
  return Instructions::kBase;
}

WalkFunction ChooseWalk(const RuleNumbers& rules, int num_actions, Instructions instructions) {
  const int num_groups = PaddedActions(num_actions) / kLanes;
  return instructions == Instructions::kAvx2 ? ChooseKind<Avx2>(rules, num_groups)
                                             : ChooseKind<Base>(rules, num_groups);
}

ClimbFunction ChooseClimb(Instructions instructions) {
  return instructions == Instructions::kAvx2 ? Avx2::Climb : Base::Climb;
}

}  // namespace lzero
