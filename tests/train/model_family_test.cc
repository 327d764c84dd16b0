#include "lzero/train/model_family.h"

#include "gtest/gtest.h"
#include "lzero/inference/root_runner.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/alphazero_family.h"
#include "lzero/train/muzero_family.h"
#include "lzero/train/stochastic_muzero_family.h"
#include "lzero/train/unizero_family.h"
#include "tests/train/train_testing.h"

namespace lzero {
namespace {

TEST(ModelFamily, EveryChoiceOfTheConfigHasOne) {
  ModelConfig config;
  EXPECT_NE(dynamic_cast<const UniZeroFamily*>(&FamilyOf(config)), nullptr);
  config.family = Family::kMuZero;
  EXPECT_NE(dynamic_cast<const MuZeroFamily*>(&FamilyOf(config)), nullptr);
  config.family = Family::kStochasticMuZero;
  EXPECT_NE(dynamic_cast<const StochasticMuZeroFamily*>(&FamilyOf(config)), nullptr);
  config.family = Family::kAlphaZero;
  EXPECT_NE(dynamic_cast<const AlphaZeroFamily*>(&FamilyOf(config)), nullptr);
}

}  // namespace
}  // namespace lzero
