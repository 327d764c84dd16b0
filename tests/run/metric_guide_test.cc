#include "lzero/run/metric_guide.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::metric_guide_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(MetricGuideTest, ExplainsOneMetric) {
  EXPECT_EQ(*ExplainMetric("collect/length_mean"),
            "collect/length_mean\n  Mean steps of the same episodes.\n");
  EXPECT_THAT(*ExplainMetric("open_loop/reward_3"), StartsWith("open_loop/reward_K\n"));
  EXPECT_THAT(*ExplainMetric("open_loop/reward_10"), StartsWith("open_loop/reward_K\n"));
}

TEST(MetricGuideTest, ExplainsAGroupANameAndAll) {
  const std::string losses = *ExplainMetric("loss");
  EXPECT_THAT(losses, HasSubstr("loss/value\n"));
  EXPECT_THAT(losses, Not(HasSubstr("value/error\n")));
  const std::string biases = *ExplainMetric("value_bias");
  EXPECT_THAT(biases, HasSubstr("eval/value_bias\n"));
  EXPECT_THAT(biases, HasSubstr("collect/value_bias\n"));
  const std::string all = *ExplainMetric("");
  EXPECT_THAT(all, StartsWith("env_steps\n"));
  EXPECT_THAT(all, HasSubstr("time/share_evaluate\n"));
}

TEST(MetricGuideTest, AnUnknownNameIsToldWithTheNearest) {
  EXPECT_EQ(ExplainMetric("los/value").status().message(),
            "no metric 'los/value'; did you mean 'loss/value'?");
  EXPECT_EQ(ExplainMetric("nothing of the kind").status().message(),
            "no metric 'nothing of the kind'");
}

TEST(MetricGuideTest, OnlyWholeNamesAreExplained) {
  EXPECT_TRUE(IsExplainedMetric("updates"));
  EXPECT_TRUE(IsExplainedMetric("open_loop/latent_5"));
  for (const char* name :
       {"", "loss", "open_loop/latent_", "open_loop/latent_x", "latent_5", "5", "loss/value_5"}) {
    EXPECT_FALSE(IsExplainedMetric(name)) << name;
  }
}

TEST(MetricGuideTest, EveryNameStandsThereOnce) {
  const std::string all = *ExplainMetric("");
  std::set<std::string> names;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = all.find('\n', begin);
    const std::string line = all.substr(begin, end - begin);
    begin = end + 1;
    if (line[0] == ' ') continue;
    EXPECT_TRUE(names.insert(line).second) << line;
  }
  EXPECT_GT(names.size(), 50u);
}

}  // namespace
}  // namespace lzero::metric_guide_test
