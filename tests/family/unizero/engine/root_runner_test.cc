// How far back a root looks.
#include "lzero/family/unizero/engine/root_runner.h"

#include "gtest/gtest.h"

namespace lzero::root_runner_test {
namespace {

ModelConfig Config(int64_t num_layers, int64_t context_length) {
  ModelConfig config;
  config.num_layers = num_layers;
  config.context_length = context_length;
  return config;
}

TEST(RootRunnerTest, RebuiltRootsReachExactlyAsFarAsTheBands) {
  EXPECT_EQ(NumRootPastSteps(Config(2, 8)), 7);  // 14 tokens
  EXPECT_EQ(NumRootPastSteps(Config(3, 4)), 5);  // 9 tokens: 4.5 steps, rounded up
  EXPECT_EQ(NumRootPastSteps(Config(1, 2)), 1);
}

}  // namespace
}  // namespace lzero::root_runner_test
