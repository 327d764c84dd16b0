#include "lzero/kv_cache/internal/context_index.h"

#include <vector>

#include "tests/kv_cache/cache_testing.h"

namespace lzero::internal::context_index_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

// 2 environments, windows of 5 tokens, 2 init entries, 4 nodes (3 beside the root). Slots:
//   environment 0: inits 1..5, 6..10, nodes 1: 11 12, 2: 13 14, 3: 15 16
//   environment 1: inits 17..21, 22..26, nodes 1: 27 28, 2: 29 30, 3: 31 32
ContextIndex MakeIndex(RootContext root_context = RootContext::kRebuild) {
  return ContextIndex(2, 5, 2, 4, root_context);
}

int64_t Put(ContextIndex& index, const ChildKey& child) {
  EXPECT_TRUE(index.CheckChildren({child}).ok()) << index.CheckChildren({child});
  return index.PutChild(child);
}

struct Collected {
  Numbers slots;
  ContextWindow window;
};

Collected Collect(const ContextIndex& index, const ContextPath& path, int64_t size = 5) {
  Collected collected{Numbers(size, -1), {}};
  collected.window = index.CollectSlots(path, absl::MakeSpan(collected.slots));
  return collected;
}

TEST(ContextIndex, CountsSlots) {
  EXPECT_EQ(*ContextIndex::CountSlots(2, 5, 2, 4), 1 + 2 * (2 * 5 + 3 * 2));
  EXPECT_EQ(MakeIndex().num_slots(), 33);
  EXPECT_EQ(*ContextIndex::CountSlots(3, 0, 2, 1), 1);
  const int64_t huge = int64_t{1} << 61;
  for (const auto& slots :
       {ContextIndex::CountSlots(huge, 5, 2, 4), ContextIndex::CountSlots(2, huge, 9, 4),
        ContextIndex::CountSlots(2, 5, 2, int64_t{1} << 31)}) {
    EXPECT_TRUE(Says(slots.status(), StatusCode::kInvalidArgument, {"can be counted"}));
  }
}

TEST(ContextIndex, WalksFromTheNodeToTheRootAndCutsAtTheWindow) {
  ContextIndex index = MakeIndex();
  EXPECT_EQ(index.PutInit(EnvId(1), 3, 2, 0), 17);
  Collected root = Collect(index, *index.Find(EnvId(1), NodeId(0)));
  EXPECT_EQ(root.slots, Numbers({0, 0, 0, 17, 18}));
  EXPECT_EQ(root.window.length, 2);
  EXPECT_EQ(root.window.root_tokens, 2);
  EXPECT_EQ(root.window.hops, 1);

  EXPECT_EQ(Put(index, Child(1, 0, 2)), 29);
  Collected child = Collect(index, *index.Find(EnvId(1), NodeId(2)));
  EXPECT_EQ(child.slots, Numbers({0, 17, 18, 29, 30}));
  EXPECT_EQ(child.window.length, 4);
  EXPECT_EQ(child.window.hops, 2);

  EXPECT_EQ(Put(index, Child(1, 2, 1)), 27);
  Collected grandchild = Collect(index, *index.Find(EnvId(1), NodeId(1)));
  EXPECT_EQ(grandchild.slots, Numbers({18, 29, 30, 27, 28}));
  EXPECT_EQ(grandchild.window.root_tokens, 1);
  EXPECT_EQ(grandchild.window.hops, 3);

  EXPECT_EQ(Put(index, Child(1, 1, 3)), 31);
  Collected last = Collect(index, *index.Find(EnvId(1), NodeId(3)));
  EXPECT_EQ(last.slots, Numbers({30, 27, 28, 31, 32})) << "node 2 is cut to its second token";
  EXPECT_EQ(last.window.root_tokens, 0);
  EXPECT_EQ(last.window.length, 5);
  EXPECT_EQ(last.window.hops, 3);
}

TEST(ContextIndex, ALongRootKeepsItsNewestTokens) {
  ContextIndex index = MakeIndex();
  EXPECT_EQ(index.PutInit(EnvId(0), 0, 50, 0), 1);  // 5 of the 50 were stored
  EXPECT_EQ(Collect(index, *index.Find(EnvId(0), NodeId(0))).slots, Numbers({1, 2, 3, 4, 5}));
  Put(index, Child(0, 0, 1));
  EXPECT_EQ(Collect(index, *index.Find(EnvId(0), NodeId(1))).slots, Numbers({3, 4, 5, 11, 12}));
}

TEST(ContextIndex, AWindowOfNothingIsEmpty) {
  ContextIndex index(1, 0, 1, 3, RootContext::kRebuild);
  index.PutInit(EnvId(0), 0, 7, 0);
  Put(index, Child(0, 0, 1));
  for (const int64_t node : {0, 1}) {
    const Collected empty = Collect(index, *index.Find(EnvId(0), NodeId(node)), 0);
    EXPECT_EQ(empty.window.length, 0);
    EXPECT_EQ(empty.window.root_tokens, 0);
  }
}

TEST(ContextIndex, GrowKeepsTheSlotsOfWhatIsThere) {
  ContextIndex index = MakeIndex();
  index.PutInit(EnvId(0), 0, 5, 0);
  index.PutInit(EnvId(0), 1, 5, 0);
  Put(index, Child(0, 0, 3));
  const Numbers before = Collect(index, *index.Find(EnvId(0), NodeId(3))).slots;
  EXPECT_FALSE(index.HasInitRoom(EnvId(0), 2));
  EXPECT_EQ(index.HeldSteps(EnvId(0)), "0, 1");
  index.Grow(4, 8);
  EXPECT_EQ(index.num_slots(), *ContextIndex::CountSlots(2, 5, 4, 8));
  EXPECT_EQ(Collect(index, *index.Find(EnvId(0), NodeId(3))).slots, before);
  EXPECT_EQ(index.PutInit(EnvId(0), 2, 5, 0), 33);
  index.Grow(1, 1);
  EXPECT_EQ(index.num_inits(), 4);
  EXPECT_EQ(index.num_nodes(), 8);
}

TEST(ContextIndex, ReplacesAStepAndReusesWhatIsForgotten) {
  ContextIndex index = MakeIndex();
  EXPECT_EQ(index.PutInit(EnvId(0), 7, 5, 0), 1);
  EXPECT_EQ(index.PutInit(EnvId(0), 8, 5, 0), 6);
  EXPECT_EQ(index.PutInit(EnvId(0), 7, 3, 0), 1);
  EXPECT_FALSE(index.HasInitRoom(EnvId(0), 9));
  index.RetireInit(EnvId(0), 8);
  EXPECT_EQ(index.PutInit(EnvId(0), 9, 5, 0), 1);
  index.set_weight_version(1);
  EXPECT_EQ(index.PutInit(EnvId(0), 10, 5, 1), 1) << "entries of older weights are free";
}

TEST(ContextIndex, NewestIsTheHighestStepThatCanBeRead) {
  ContextIndex index = MakeIndex();
  index.PutInit(EnvId(0), 9, 1, 0);
  index.PutInit(EnvId(0), 4, 1, 0);
  EXPECT_EQ(index.FindNewestInit(EnvId(0))->root, 0);
  index.set_weight_version(1);
  EXPECT_EQ(index.FindNewestInit(EnvId(0)).status().code(), StatusCode::kFailedPrecondition);
  index.PutInit(EnvId(0), 4, 1, 1);
  EXPECT_EQ(index.FindNewestInit(EnvId(0))->root, 1);
}

TEST(ContextIndex, ChildrenAreCheckedTogetherAndChangeNothing) {
  ContextIndex index = MakeIndex();
  index.PutInit(EnvId(0), 0, 5, 0);
  const std::vector<ChildKey> repeated = {Child(0, 0, 1), Child(0, 0, 1)};
  EXPECT_TRUE(Says(index.CheckChildren(repeated), StatusCode::kInvalidArgument,
                   {"row 1", "node 1 of environment 0", "another row"}));
  const std::vector<ChildKey> far = {Child(0, 0, 90), Child(0, 0, 90)};
  EXPECT_TRUE(Says(index.CheckChildren(far), StatusCode::kInvalidArgument, {"node 90"}));
  const std::vector<ChildKey> chain = {Child(0, 0, 1), Child(0, 1, 2)};
  EXPECT_TRUE(Says(index.CheckChildren(chain), StatusCode::kNotFound, {"parent of row 1"}));
  EXPECT_EQ(index.FindNode(EnvId(0), NodeId(1)).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(index.CheckChildren({Child(0, 0, 1), Child(0, 0, 2)}).ok());
}

TEST(ContextIndex, ANodeThatCannotBeReadIsFreeAgain) {
  ContextIndex index = MakeIndex();
  index.PutInit(EnvId(0), 0, 5, 0);
  Put(index, Child(0, 0, 1));
  Put(index, Child(0, 1, 2));
  EXPECT_EQ(index.CheckChildren({Child(0, 0, 1)}).code(), StatusCode::kAlreadyExists);
  index.set_weight_version(1);
  index.PutInit(EnvId(0), 0, 5, 1);
  Put(index, Child(0, 0, 1));
  EXPECT_EQ(index.FindNode(EnvId(0), NodeId(2)).status().code(), StatusCode::kFailedPrecondition);
  index.PutInit(EnvId(0), 0, 4, 1);
  EXPECT_EQ(index.FindNode(EnvId(0), NodeId(1)).status().code(), StatusCode::kNotFound);
  Put(index, Child(0, 0, 1));
  EXPECT_TRUE(index.FindNode(EnvId(0), NodeId(1)).ok());
}

TEST(ContextIndexDeathTest, ForeignEnvironmentsAreBugsWhereNoStatusIsReturned) {
  ContextIndex index = MakeIndex();
  EXPECT_DEATH(index.BeginSearch(EnvId(2)), "environment 2 is outside 0 .. 1");
  EXPECT_DEATH(index.EndEpisode(EnvId(-1)), "environment -1 is outside 0 .. 1");
  EXPECT_DEATH(index.RetireInit(EnvId(2), 0), "environment 2 is outside 0 .. 1");
}

}  // namespace
}  // namespace lzero::internal::context_index_test
