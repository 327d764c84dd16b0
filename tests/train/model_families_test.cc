#include "lzero/train/model_families.h"

#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_family.h"
#include "lzero/family/muzero/muzero_family.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_family.h"
#include "lzero/family/unizero/unizero_family.h"

namespace lzero::model_families_test {
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

}  // namespace
}  // namespace lzero::model_families_test
