// When a run warns that its latents have collapsed.
#include "lzero/train/collapse.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero {
namespace {

using ::testing::HasSubstr;

TEST(CollapseTest, WarnsBelowAThousandthOfTheNorm) {
  const auto warning = CollapseWarning({{"latent/spread", 0.0079}, {"latent/norm", 8.0}});
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("latents have collapsed: their spread over a batch is 0.0079 at "
                                  "a norm of 8"));
  EXPECT_THAT(*warning, HasSubstr("lower train.learning_rate or loss.latent_weight"));
  EXPECT_TRUE(CollapseWarning({{"latent/spread", 0.0}, {"latent/norm", 1.0}}).has_value());
}

TEST(CollapseTest, IsSilentAboutHealthyLatentsAndMissingOnes) {
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0081}, {"latent/norm", 8.0}}).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0}}).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/norm", 1.0}}).has_value());
  // No latents at all; numbers that are not finite are the business of train.on_nan.
  EXPECT_FALSE(CollapseWarning({{"latent/spread", 0.0}, {"latent/norm", 0.0}}).has_value());
  EXPECT_FALSE(CollapseWarning({{"latent/spread", NAN}, {"latent/norm", 1.0}}).has_value());
}

}  // namespace
}  // namespace lzero
