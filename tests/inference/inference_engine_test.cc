#include "lzero/inference/inference_engine.h"

#include "gtest/gtest.h"

namespace lzero {
namespace {

TEST(InferenceEngine, ASamplerIsMadeWhereTheSearchAsksForOne) {
  EngineOptions options;
  options.shape = {{4}, 6, 0};
  options.num_envs = 2;
  options.search.num_simulations = 10;
  EXPECT_EQ(MakeActionSampler(options), nullptr);
  EXPECT_EQ(ActionSamplerBytes(options), 0);
  options.search.num_sampled_actions = 3;
  options.search.sample_temperature = 2.0;
  const auto sampler = MakeActionSampler(options);
  ASSERT_NE(sampler, nullptr);
  EXPECT_EQ(sampler->options().num_slots, 3);
  EXPECT_EQ(sampler->options().num_actions, 6);
  EXPECT_EQ(sampler->options().nodes_per_root, 11);
  EXPECT_EQ(sampler->options().temperature, 2.0);
  EXPECT_EQ(ActionSamplerBytes(options), ActionSampler::Bytes(sampler->options()));
}

}  // namespace
}  // namespace lzero
