#include "lzero/train/model_families.h"

#include "gtest/gtest.h"
#include "lzero/family/families.h"

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
