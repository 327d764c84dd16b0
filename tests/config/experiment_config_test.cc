#include "lzero/config/experiment_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/load.h"

namespace lzero::experiment_config_test {
namespace {

// The example of the product description: these section and key names are fixed.
constexpr char kExample[] = R"(
env:        {id: cartpole, max_episode_steps: 200, num_collectors: 8, num_evaluators: 8}
model:      {encoder: vector, embed_dim: 64, num_layers: 2, num_heads: 2, context_length: 8, support_size: 101}
search:     {policy: puct, num_simulations: 25, temperature: 0.25, root_noise_alpha: 0.3, root_noise_fraction: 0.25}
replay:     {capacity: 100000, num_unroll_steps: 5, td_steps: 20, discount: 0.997, prioritized: false, value_bootstrap: target_network}
train:      {batch_size: 64, updates_per_env_step: 0.25, learning_rate: 1.0e-3, weight_decay: 1.0e-4, grad_clip: 5, start_env_steps: 500}
inference:  {device: cpu, runner: auto, graphs: preferred, dtype: fp32, cache_storage: static, num_threads: 1}
evaluate:   {every_updates: 200, episodes: 8}
checkpoint: {every_updates: 500, keep: 3}
stop:       {max_env_steps: 20000, max_updates: null, target_return: 195, patience: 3}
seed: 0
deterministic: false
)";

TEST(ExperimentConfig, ReadsTheExampleOfTheDesign) {
  const auto loaded = LoadConfigText(kExample, "example", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ExperimentConfig& config = loaded->config;
  EXPECT_EQ(config.env.max_episode_steps, 200);
  EXPECT_EQ(config.search.temperature, 0.25);
  EXPECT_EQ(config.train.learning_rate, 0.001);
  EXPECT_EQ(config.train.weight_decay, 0.0001);
  EXPECT_EQ(config.stop.target_return, 195.0);
  EXPECT_EQ(config.stop.max_updates, std::nullopt);
  EXPECT_EQ(loaded->set_at.at("env.id"), "example:2:18");
}

TEST(ExperimentConfig, ChoicesMapToTheirValues) {
  const auto loaded = LoadConfigText(
      "model: {encoder: board, latent_norm: sim_norm, latent_loss: group_kl, terminal: mask}\n"
      "search: {policy: gumbel, q_transform: completed_by_mix_value}\n"
      "replay: {value_bootstrap: search}\n"
      "train: {learning_rate_schedule: linear, on_nan: rollback}\n"
      "inference: {device: cpu, runner: eager, graphs: 'off', dtype: fp32, "
      "cache_storage: growing, root_context: carry}\n",
      "choices", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ExperimentConfig& config = loaded->config;
  EXPECT_EQ(config.model.encoder, EncoderKind::kBoard);
  EXPECT_EQ(config.model.latent_norm, LatentNorm::kSimNorm);
  EXPECT_EQ(config.model.latent_loss, LatentLoss::kGroupKl);
  EXPECT_EQ(config.model.terminal, TerminalMode::kMask);
  EXPECT_EQ(config.search.policy, SearchPolicy::kGumbel);
  EXPECT_EQ(config.search.q_transform, QTransform::kCompletedByMixValue);
  EXPECT_EQ(config.replay.value_bootstrap, ValueBootstrap::kSearch);
  EXPECT_EQ(config.train.learning_rate_schedule, LearningRateSchedule::kLinear);
  EXPECT_EQ(config.train.on_nan, OnNan::kRollback);
  EXPECT_EQ(config.inference.device, Device::kCpu);
  EXPECT_EQ(config.inference.runner, Runner::kEager);
  EXPECT_EQ(config.inference.graphs, Graphs::kOff);
  EXPECT_EQ(config.inference.dtype, InferenceDtype::kFp32);
  EXPECT_EQ(config.inference.cache_storage, CacheStorage::kGrowing);
  EXPECT_EQ(config.inference.root_context, RootContext::kCarry);
}

TEST(ExperimentConfig, OtherChoicesToo) {
  const auto loaded = LoadConfigText(
      "search: {q_transform: parent_and_siblings}\n"
      "train: {learning_rate_schedule: cosine}\n"
      "inference: {graphs: off}\n",
      "choices", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto cuda =
      LoadConfigText("inference: {device: cuda, runner: cuda_graph}\n", "choices", {});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  EXPECT_EQ(cuda->config.inference.device, Device::kCuda);
  EXPECT_EQ(cuda->config.inference.runner, Runner::kCudaGraph);
  const auto searches =
      LoadConfigText("inference: {device: cuda, runner: cuda_search_graph}\n", "choices", {});
  ASSERT_TRUE(searches.ok()) << searches.status();
  EXPECT_EQ(searches->config.inference.runner, Runner::kCudaSearchGraph);
  const auto packed = LoadConfigText("inference: {runner: packed, dtype: bf16}\n", "choices", {});
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(packed->config.inference.runner, Runner::kPacked);
  EXPECT_EQ(packed->config.inference.dtype, InferenceDtype::kBf16);
  EXPECT_EQ(loaded->config.search.q_transform, QTransform::kParentAndSiblings);
  EXPECT_EQ(loaded->config.train.learning_rate_schedule, LearningRateSchedule::kCosine);
  EXPECT_EQ(loaded->config.inference.graphs, Graphs::kOff);
  const auto fixed_range = LoadConfigText("search: {q_transform: min_max}\n", "choices", {});
  ASSERT_TRUE(fixed_range.ok());
  EXPECT_EQ(fixed_range->config.search.q_transform, QTransform::kMinMax);
}

}  // namespace
}  // namespace lzero::experiment_config_test
