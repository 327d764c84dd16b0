// The rules of family unizero: each broken alone, and the values next to it.
#include "lzero/family/unizero/rules/unizero_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/consistency.h"
#include "lzero/config/load.h"

namespace lzero::unizero_rules_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<ConsistencyError> Rule(const ExperimentConfig& config) {
  return UniZeroModelErrors(config.model);
}

struct BrokenRule {
  std::string override;
  const char* key;
  const char* message;
};

const BrokenRule kBrokenRules[] = {
    {"model.num_heads=3", "model.num_heads",
     "must divide embed_dim; got num_heads 3, embed_dim 64"},
    {"model.embed_dim=66", "model.num_heads",
     "rotary positions need heads of even size; got embed_dim 66 / num_heads 2 = 33"},
    {"model.context_length=7", "model.context_length", "must be even"},
    {"model.latent_loss=cosine", "model.latent_loss",
     "belongs to family muzero; got cosine with family unizero; allowed: mse, group_kl"},
    {"model.latent_loss=none", "model.latent_loss", "got none with family unizero"},
};

TEST(UniZeroRules, NamesEachBrokenRule) {
  for (const BrokenRule& test : kBrokenRules) {
    const auto loaded = LoadConfigText("{}", "text", {test.override}, Rule);
    ASSERT_FALSE(loaded.ok()) << test.message;
    const std::string message(loaded.status().message());
    EXPECT_THAT(message, ContainsRegex(absl::StrCat(test.key, "(=[^ ]+)?: "))) << test.message;
    EXPECT_THAT(message, HasSubstr(test.message));
    EXPECT_THAT(message, Not(HasSubstr("\n"))) << "only this rule";
  }
}

// A family without a transformer is not held to the rules of one.
TEST(UniZeroRules, AreNotThoseOfEveryFamily) {
  ExperimentConfig config;
  config.model.embed_dim = 65;
  config.model.context_length = 7;
  config.model.latent_loss = LatentLoss::kNone;
  EXPECT_THAT(ConsistencyErrors(config), IsEmpty());
  EXPECT_EQ(UniZeroModelErrors(config.model).size(), 3u);
  EXPECT_THAT(UniZeroModelErrors(ModelConfig()), IsEmpty());
}

TEST(UniZeroRules, AllowWhatIsNextToOne) {
  const std::vector<std::string> good[] = {
      {"model.num_heads=4"},
      {"model.embed_dim=6", "model.num_heads=3"},
      {"model.context_length=2"},
      {"model.latent_norm=sim_norm", "model.latent_loss=group_kl"},
  };
  for (const auto& overrides : good) {
    const auto loaded = LoadConfigText("{}", "text", overrides, Rule);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
  }
}

}  // namespace
}  // namespace lzero::unizero_rules_test
