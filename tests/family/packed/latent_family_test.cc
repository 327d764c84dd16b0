// What MuZero and Stochastic MuZero share: rules between config and family.
#include "lzero/family/packed/latent_family.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "lzero/train/build.h"
#include "lzero/train/run_plan.h"
#include "tests/train/train_testing.h"

namespace lzero::latent_family_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

ExperimentConfig MuZeroConfig() {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kMuZero;
  config.model.latent_loss = LatentLoss::kNone;
  return config;
}

std::string ErrorOf(const ExperimentConfig& config) {
  return std::string(PlanRun(config, NativeRegistry()).status().message());
}

// Rules of the transformer are not those of this family, and its sizes are nothing to it.
TEST(LatentFamily, HasNoTransformer) {
  ExperimentConfig config = MuZeroConfig();
  config.model.embed_dim = 7;
  config.model.context_length = 5;
  EXPECT_EQ(ErrorOf(config), "");
  const std::vector<std::string> unread = MuZeroFamily().unread_fields(config.model);
  EXPECT_THAT(unread, IsSupersetOf({"model.num_layers", "model.num_heads", "model.context_length",
                                    "model.dropout", "loss.latent_weight", "loss.chance_weight"}));
  config.model.latent_loss = LatentLoss::kCosine;
  EXPECT_THAT(MuZeroFamily().unread_fields(config.model), Not(Contains("loss.latent_weight")));
}

}  // namespace
}  // namespace lzero::latent_family_test
