// When a run warns that its latents have collapsed.
#include "lzero/train/collapse.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::collapse_test {
namespace {

using ::testing::HasSubstr;

TEST(CollapseTest, WarnsBelowFiveThousandthsOfTheNorm) {
  const auto warning = CollapseWarning({{"latent/spread", 0.0399}, {"latent/norm", 8.0}}, 1000);
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("latents have collapsed: their spread over a batch is 0.04 at "
                                  "a norm of 8"));
  EXPECT_THAT(*warning, HasSubstr("lower train.learning_rate or loss.latent_weight"));
  EXPECT_TRUE(CollapseWarning({{"latent/spread", 0.0}, {"latent/norm", 1.0}}, 1000).has_value());
}

// A fresh encoder of pictures that differ little tells them little apart.
TEST(CollapseTest, IsSilentAtTheStartOfARun) {
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0}, {"latent/norm", 8.0}}, 999).has_value());
}

TEST(CollapseTest, IsSilentAboutHealthyLatentsAndMissingOnes) {
  EXPECT_FALSE(
      CollapseWarning({{"latent/spread", 0.0401}, {"latent/norm", 8.0}}, 1000).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0}}, 1000).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/norm", 1.0}}, 1000).has_value());
  // No latents at all; train.on_nan deals with numbers that are not finite.
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0}, {"latent/norm", 0.0}}, 1000).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/spread", NAN}, {"latent/norm", 1.0}}, 1000).has_value());
}

TEST(CollapseTest, WarnsOfTrainingThatDiverges) {
  EXPECT_EQ(*DivergenceWarning({{"loss/value", 6.4}, {"loss/reward", 203.02}}),
            "the training diverges: loss/reward is 2e+02; lower train.learning_rate");
  EXPECT_THAT(*DivergenceWarning({{"loss/value", 51.0}}), HasSubstr("loss/value is 51;"));
  EXPECT_FALSE(DivergenceWarning({{"loss/value", 50.0}, {"loss/reward", 0.0}}).has_value());
  EXPECT_FALSE(DivergenceWarning({}).has_value());
  EXPECT_FALSE(DivergenceWarning({{"loss/value", NAN}}).has_value());
}

}  // namespace
}  // namespace lzero::collapse_test
