#include "lzero/config/model/model_config.h"

#include "gtest/gtest.h"

namespace lzero::model_config_test {
namespace {

TEST(ModelConfigTest, HeadsHaveAnOutputForEachAtom) {
  ModelConfig config;
  config.support_size = 21;
  EXPECT_EQ(config.value_bins(), 21);
  EXPECT_FALSE(config.reward_range().has_value());
  config.reward_support = {{"min", "-1"}, {"max", "1"}, {"bins", "3"}};
  EXPECT_EQ(config.value_bins(), 21);
  EXPECT_EQ(config.reward_bins(), 3);
  EXPECT_EQ(config.reward_range()->min, -1.0);
}

}  // namespace
}  // namespace lzero::model_config_test
