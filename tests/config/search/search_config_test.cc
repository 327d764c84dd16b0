#include "lzero/config/search/search_config.h"

#include "gtest/gtest.h"

namespace lzero::search_config_test {
namespace {

TEST(SearchConfig, EveryFieldCounts) {
  const SearchConfig plain;
  EXPECT_TRUE(plain == SearchConfig());
  SearchConfig other;
  other.num_sampled_actions = 20;
  EXPECT_FALSE(plain == other);
  other = plain;
  other.sample_temperature = 2.0;
  EXPECT_FALSE(plain == other);
  other = plain;
  other.uniform_sample_fraction = 0.5;
  EXPECT_FALSE(plain == other);
  other = plain;
  other.policy_target = PolicyTarget::kBestAction;
  EXPECT_FALSE(plain == other);
}

}  // namespace
}  // namespace lzero::search_config_test
