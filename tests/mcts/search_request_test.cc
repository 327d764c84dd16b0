// What the checks accept; what they say to wrong requests is in search_error_test.cc, through
// Search.
#include "lzero/mcts/search_request.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::search_request_test {
namespace {

TEST(SearchRequestTest, RootsOfDifferentEnvironmentsWithALegalActionAreFine) {
  RootBatch batch(3, 2);
  batch.mask(1)[0] = 0;
  std::vector<int32_t> envs;
  EXPECT_TRUE(CheckRoots(batch.roots(), {}, 2, 3, &envs).ok());
  EXPECT_TRUE(CheckRoots({}, {}, 2, 3, &envs).ok());
  EXPECT_FALSE(CheckRoots(batch.roots(), {}, 3, 3, &envs).ok()) << "masks of 2 entries";
  EXPECT_FALSE(CheckRoots(batch.roots(), {}, 2, 2, &envs).ok()) << "room for 2 roots";
}

TEST(SearchRequestTest, RootValuesMustBeFinite) {
  RootBatch batch(2, 2);
  SearchResult result;
  result.Resize(2, 2);
  EXPECT_TRUE(CheckRootValues(batch.roots(), result).ok());
  result.root_values[1] = std::numeric_limits<float>::infinity();
  const absl::Status status = CheckRootValues(batch.roots(), result);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("environment 1 is inf"));
}

}  // namespace
}  // namespace lzero::search_request_test
