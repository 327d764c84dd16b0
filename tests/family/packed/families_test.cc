#include "lzero/family/packed/families.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::families_test {
namespace {

TEST(ModelFamily, EveryChoiceOfTheConfigHasOne) {
  ModelConfig config;
  EXPECT_EQ(&FamilyOf(config), &UniZeroFamily());
  config.family = Family::kMuZero;
  EXPECT_EQ(&FamilyOf(config), &MuZeroFamily());
  config.family = Family::kStochasticMuZero;
  EXPECT_EQ(&FamilyOf(config), &StochasticMuZeroFamily());
  config.family = Family::kAlphaZero;
  EXPECT_EQ(&FamilyOf(config), &AlphaZeroFamily());
}

TEST(ModelFamily, WithoutLibtorchThereArePackedEnginesAlone) {
  EngineOptions options;
  options.model.family = Family::kMuZero;
  options.model.latent_loss = LatentLoss::kNone;
  options.shape = {{4}, 2};
  options.num_envs = 1;
  EXPECT_EQ(MakePackedEngine(options, nullptr).value()->runner_name(), "packed");
  options.inference.runner = Runner::kEager;
  EXPECT_EQ(MakePackedEngine(options, nullptr).status(),
            absl::FailedPreconditionError(
                "this program was built without libtorch and runs packed networks on the CPU; got "
                "inference.runner: eager; allowed: device cpu with runner auto or packed"));
  options.inference.runner = Runner::kAuto;
  options.inference.device = {Device::Kind::kCuda, 1};
  EXPECT_THAT(MakePackedEngine(options, nullptr).status().message(),
              testing::HasSubstr("got inference.device: cuda:1; allowed: device cpu"));
}

}  // namespace
}  // namespace lzero::families_test
