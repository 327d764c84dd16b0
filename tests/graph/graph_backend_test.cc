// Which batch sizes are captured, and which one a batch runs in.
#include "lzero/graph/graph_backend.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::graph_backend_test {
namespace {

using testing::ElementsAre;

TEST(GraphBackendTest, BucketsAreThoseOfTheDesign) {
  EXPECT_THAT(BatchBuckets(), ElementsAre(2, 4, 8, 16, 32, 64, 96, 128, 192, 256));
}

TEST(GraphBackendTest, ABatchNeedsTheBucketsUpToItsOwn) {
  EXPECT_THAT(BucketsUpTo(1), ElementsAre(2));
  EXPECT_THAT(BucketsUpTo(5), ElementsAre(2, 4, 8));
  EXPECT_THAT(BucketsUpTo(8), ElementsAre(2, 4, 8));
  EXPECT_EQ(BucketsUpTo(256).size(), 10u);
  EXPECT_EQ(BucketsUpTo(300).back(), 300);
  EXPECT_EQ(BucketsUpTo(300).size(), 11u);
}

TEST(GraphBackendTest, ABatchRunsInTheSmallestBucketThatHoldsIt) {
  const std::vector<int64_t> buckets = BucketsUpTo(40);
  for (int64_t batch = 1; batch <= 64; ++batch) {
    const size_t bucket = BucketOf(buckets, batch);
    EXPECT_GE(buckets[bucket], batch);
    if (bucket == 0) continue;
    EXPECT_LT(buckets[bucket - 1], batch);
  }
}

TEST(GraphBackendDeathTest, ABatchBeyondAllBucketsIsACallersBug) {
  EXPECT_DEATH(BucketOf({1, 2, 4}, 5), "a batch of 5, the largest bucket is 4");
  EXPECT_DEATH(BucketsUpTo(0), "a batch of 0");
}

}  // namespace
}  // namespace lzero::graph_backend_test
