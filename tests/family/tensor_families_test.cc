#include "lzero/family/tensor_families.h"

#include "gtest/gtest.h"

namespace lzero::tensor_families_test {
namespace {

TEST(TensorFamily, EveryChoiceOfTheConfigHasOne) {
  ModelConfig config;
  EXPECT_EQ(&TensorFamilyOf(config), &UniZeroTensorFamily());
  config.family = Family::kMuZero;
  EXPECT_EQ(&TensorFamilyOf(config), &MuZeroTensorFamily());
  config.family = Family::kStochasticMuZero;
  EXPECT_EQ(&TensorFamilyOf(config), &StochasticMuZeroTensorFamily());
  config.family = Family::kAlphaZero;
  EXPECT_EQ(&TensorFamilyOf(config), &AlphaZeroTensorFamily());
}

TEST(TensorFamily, TheOptionsChooseBetweenPackedEnginesAndThoseOfLibtorch) {
  for (const Family family : {Family::kUniZero, Family::kMuZero}) {
    EngineOptions options;
    options.model.family = family;
    options.shape = {{4}, 2};
    options.num_envs = 1;
    options.search.num_simulations = 3;
    const auto name_of = [&] { return MakeEngine(options, nullptr).value()->runner_name(); };
    EXPECT_EQ(name_of(), "packed");
    const int64_t packed_bytes = EngineBytes(options, nullptr).value();
    options.inference.runner = Runner::kEager;
    EXPECT_EQ(name_of(), "eager");
    EXPECT_NE(EngineBytes(options, nullptr).value(), packed_bytes);
  }
}

}  // namespace
}  // namespace lzero::tensor_families_test
