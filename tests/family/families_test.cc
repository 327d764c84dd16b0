#include "lzero/family/families.h"

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

}  // namespace
}  // namespace lzero::families_test
