#include "lzero/mcts/tree/walk.h"

#include <array>

#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/search_kind.h"
#include "lzero/mcts/tree/select.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LZ_AVX2 __attribute__((target("avx2")))
#else
#define LZ_AVX2
#endif
// Everything inline, so that it is compiled with the instructions of its caller.
#define LZ_FLATTEN __attribute__((flatten))

namespace lzero {

namespace {

// Nodes of so many bytes are in the caches of a core; above, the next node of a walk is asked for
// while the other walks take their turns.
constexpr int64_t kNearBytes = int64_t{1} << 20;

inline bool AreFar(const TreeView& tree, int num_roots, int simulation) {
  return tree.node_stride * (simulation + 1) * num_roots > kNearBytes;
}

template <class Kind>
inline void PrefetchNode(const RootNodes& nodes, int64_t n) {
  const auto* node = reinterpret_cast<const std::byte*>(Kind::At(nodes, n).record);
  const int64_t stride =
      Kind::kGroups > 0 ? TreeLayout::NodeStride(Kind::kGroups * kLanes) : nodes.node_stride;
  for (int64_t at = 0; at < stride; at += 64) LZ_PREFETCH(node + at);
}

// The walks that take turns, so that one's loads and arithmetic overlap with the others'.
template <class Kind>
class Turns {
 public:
  explicit Turns(const WalkBatch& batch)
      : batch_(batch), are_far_(AreFar(batch.tree, batch.num_roots, batch.simulation)) {
    static_assert(Kind::kNumWalks <= kMaxWalks, "scratch for so many");
    float* scores = batch.scores;
    for (; end_ < walks_ + Kind::kNumWalks && next_root_ < batch.num_roots; ++end_) {
      Begin(scores, end_);
      scores += batch.tree.padded_actions;
    }
  }

  // The sum of the depths of the leaves.
  int64_t Run() {
    if constexpr (Kind::kActionsAbreast > 0) return RunAbreast();
    while (end_ > walks_) {
      Cursor* walk = walks_;
      Leaf leaves[2];
      bool ended[2];
      for (; Kind::kInPairs && walk + 1 < end_; walk += 2) {
        StepTwo<Kind>(batch_.tree, batch_.simulation, walk, &ended, &leaves);
        Follow(ended[0], leaves[0], walk);
        Follow(ended[1], leaves[1], walk + 1);
      }
      for (; walk < end_; ++walk) {
        const bool has_ended = Step<Kind>(batch_.tree, batch_.simulation, walk, leaves);
        Follow(has_ended, leaves[0], walk);
      }
      if (has_gaps_) CloseGaps();
    }
    return depth_sum_;
  }

 private:
  static constexpr int32_t kNoRoot = -1;

  // Walks at interior nodes step four at a time, the others one by one.
  int64_t RunAbreast() {
    while (end_ > walks_) {
      Cursor* interior[Kind::kNumWalks + kLanes];
      int num_interior = 0;
      for (Cursor* walk = walks_; walk < end_; ++walk) {
        if (PrepareInterior<Kind>(*walk)) {
          interior[num_interior++] = walk;
        } else {
          Leaf leaf;
          const bool ended = Step<Kind>(batch_.tree, batch_.simulation, walk, &leaf);
          Follow(ended, leaf, walk);
        }
      }
      // Fills up with a walk of the last four, which has not taken its step yet.
      for (int k = 0; k < kLanes && num_interior > 0; ++k) {
        interior[num_interior + k] = interior[num_interior - 1];
      }
      for (int i = 0; i < num_interior; i += kLanes) StepFour(interior + i, num_interior - i);
      if (has_gaps_) CloseGaps();
    }
    return depth_sum_;
  }

  // The first `num_walks` of four walks, at most.
  void StepFour(Cursor* const* walks, int num_walks) {
    NodeVisit visits[kLanes];
    int actions[kLanes];
    SelectFour<Kind>(walks, visits, actions);
    LZ_UNROLL
    for (int k = 0; k < kLanes; ++k) {
      if (k >= num_walks) return;
      Leaf leaf;
      const bool ended = Advance(walks[k], visits[k].node, actions[k], &leaf);
      Follow(ended, leaf, walks[k]);
    }
  }

  void Begin(float* scores, Cursor* walk) {
    const int b = next_root_++;
    const RootRecord& root = batch_.tree.root(b);
    *walk = {{batch_.rules, &root, batch_.tree.num_actions, batch_.tree.padded_actions,
              batch_.first_of_ties, scores, TreeMinMaxScale(*batch_.rules, root)},
             batch_.tree.nodes(b),
             b};
    if (are_far_ && next_root_ < batch_.num_roots) {
      PrefetchNode<Kind>(batch_.tree.nodes(next_root_), 0);
    }
  }

  // After a step: another root takes the place of a walk that ended.
  void Follow(bool ended, const Leaf& leaf, Cursor* walk) {
    if (!ended) {
      if (are_far_) PrefetchNode<Kind>(walk->nodes, walk->node);
      return;
    }
    const int b = walk->root;
    batch_.leaves[b] = leaf;
    batch_.parents[b] = NodeId(leaf.parent);
    batch_.actions[b] = leaf.action;
    batch_.children[b] = NodeId(batch_.simulation + 1);
    depth_sum_ += leaf.depth;
    if (next_root_ < batch_.num_roots) {
      Begin(walk->context.scores, walk);
    } else {
      walk->root = kNoRoot;
      has_gaps_ = true;
    }
  }

  void CloseGaps() {
    Cursor* kept = walks_;
    for (const Cursor* walk = walks_; walk < end_; ++walk) {
      if (walk->root != kNoRoot) *kept++ = *walk;
    }
    end_ = kept;
    has_gaps_ = false;
  }

  const WalkBatch& batch_;
  bool are_far_;
  bool has_gaps_ = false;
  int next_root_ = 0;
  int64_t depth_sum_ = 0;
  Cursor walks_[Kind::kNumWalks];
  Cursor* end_ = walks_;
};

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
    return Turns<Kind>(batch).Run();
  }
  LZ_FLATTEN static void Climb(const ClimbBatch& batch) { ClimbAll(batch); }
};
struct Avx2 {
  template <class Kind>
  LZ_FLATTEN LZ_AVX2 static int64_t Walk(const WalkBatch& batch) {
    return Turns<Kind>(batch).Run();
  }
  LZ_FLATTEN LZ_AVX2 static void Climb(const ClimbBatch& batch) { ClimbAll(batch); }
};

template <class Compiled, SearchPolicy FixedPolicy, QTransform FixedTransform>
WalkFunction ChooseGroups(int num_actions) {
  switch (PaddedActions(num_actions) / kLanes) {
    case 1:
      return Compiled::template Walk<FixedKind<FixedPolicy, FixedTransform, 1>>;
    case 2:
      return Compiled::template Walk<FixedKind<FixedPolicy, FixedTransform, 2>>;
    case 5:
      return Compiled::template Walk<FixedKind<FixedPolicy, FixedTransform, 5>>;
    default:
      return Compiled::template Walk<FixedKind<FixedPolicy, FixedTransform, 0>>;
  }
}

template <class Compiled, QTransform FixedTransform>
WalkFunction ChooseGumbel(int num_actions) {
  switch (num_actions) {
    case 2:
      return Compiled::template Walk<AbreastKind<FixedTransform, 2>>;
    case 3:
      return Compiled::template Walk<AbreastKind<FixedTransform, 3>>;
    case 4:
      return Compiled::template Walk<AbreastKind<FixedTransform, 4>>;
    default:
      return ChooseGroups<Compiled, SearchPolicy::kGumbel, FixedTransform>(num_actions);
  }
}

// The transforms that configs use are compiled apart, the others together.
template <class Compiled>
WalkFunction ChooseKind(const RuleNumbers& rules, int num_actions, bool has_chance) {
  if (has_chance) return Compiled::template Walk<ChanceKind>;
  if (rules.q_transform == QTransform::kTreeMinMax) {
    return rules.policy == SearchPolicy::kPuct
               ? ChooseGroups<Compiled, SearchPolicy::kPuct, QTransform::kTreeMinMax>(num_actions)
               : ChooseGumbel<Compiled, QTransform::kTreeMinMax>(num_actions);
  }
  if (rules.q_transform == QTransform::kCompletedByMixValue &&
      rules.policy == SearchPolicy::kGumbel) {
    return ChooseGumbel<Compiled, QTransform::kCompletedByMixValue>(num_actions);
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

WalkFunction ChooseWalk(const RuleNumbers& rules, int num_actions, bool has_chance,
                        Instructions instructions) {
  return instructions == Instructions::kAvx2 ? ChooseKind<Avx2>(rules, num_actions, has_chance)
                                             : ChooseKind<Base>(rules, num_actions, has_chance);
}

ClimbFunction ChooseClimb(Instructions instructions) {
  return instructions == Instructions::kAvx2 ? Avx2::Climb : Base::Climb;
}

}  // namespace lzero
