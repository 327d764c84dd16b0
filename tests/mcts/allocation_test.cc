// A warm search allocates nothing: counted by operator new, see counted_new.h.
#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"
#include "tests/support/counted_new.h"

namespace lzero::allocation_test {
namespace {

TEST(AllocationTest, AWarmSearchAllocatesNothing) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    SearchConfig config;
    config.policy = policy;
    config.max_depth = 3;
    const auto search = MakeSearch(config, 6, 5);
    HashModelOptions options;
    options.num_actions = 6;
    HashModel model(options);
    RootBatch batch(5, 6);
    SearchRequest request;
    request.add_noise = true;
    request.deterministic_ties = false;
    SearchResult result;
    ASSERT_TRUE(search->Run(model, batch.roots(), request, &result).ok());
    const int64_t before = NumAllocations();
    ASSERT_GT(before, 0) << "the counter counts";
    const absl::Status status = search->Run(model, batch.roots(), request, &result);
    EXPECT_EQ(NumAllocations(), before);
    EXPECT_TRUE(status.ok());
  }
}

TEST(AllocationTest, ATreeIsOneAllocation) {
  const int64_t before = NumAllocations();
  const Tree tree(4, 20, 6);
  EXPECT_EQ(NumAllocations(), before + 1);
}

}  // namespace
}  // namespace lzero::allocation_test
