#include "lzero/config/experiment_config.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"

namespace lzero::experiment_config_test {
namespace {

using ::testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

ExperimentConfig Loaded(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto loaded = LoadConfigText(text, "f.yaml", overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->config : ExperimentConfig();
}

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return std::string(LoadConfigText(text, "f.yaml", overrides).status().message());
}

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

TEST(EnvConfigTest, SettingsAreKeptAsTheyAreWritten) {
  const ExperimentConfig config =
      Loaded("env: {id: go, board_size: 9, settings: {komi: 7.50, superko: 'positional', a: 010}}");
  EXPECT_EQ(config.env.board_size, 9);
  EXPECT_EQ(config.env.settings,
            (Settings{{"komi", "7.50"}, {"superko", "positional"}, {"a", "010"}}));
  EXPECT_EQ(Loaded("env: {settings: {}}").env.settings, Settings());
}

TEST(EnvConfigTest, TheCommandLineSetsAndRemovesSingleSettings) {
  const std::string text = "env: {settings: {komi: 7.5, size: 9}}";
  EXPECT_EQ(Loaded(text, {"env.settings.size=5", "env.settings.x=a b"}).env.settings,
            (Settings{{"komi", "7.5"}, {"size", "5"}, {"x", "a b"}}));
  EXPECT_EQ(Loaded(text, {"env.settings.size=null"}).env.settings, (Settings{{"komi", "7.5"}}));
  EXPECT_EQ(Loaded(text, {"env.settings={}"}).env.settings, Settings());
  EXPECT_EQ(Loaded(text, {"env.settings={a: 'x: y', b: 2}"}).env.settings,
            (Settings{{"a", "x: y"}, {"b", "2"}}));
}

TEST(EnvConfigTest, WorkersHaveTheirKeys) {
  const EnvConfig env =
      Loaded("env: {num_workers: 2, max_restarts: 0, step_timeout_s: 1.5, python: /x/python}").env;
  EXPECT_EQ(env.num_workers, 2);
  EXPECT_EQ(env.max_restarts, 0);
  EXPECT_EQ(env.step_timeout_s, 1.5);
  EXPECT_EQ(env.python, "/x/python");
  // Commas in brackets are of the item.
  const std::vector<std::string> wrappers = {"a:b(1, c=[2, 3])", "d:e"};
  EXPECT_EQ(Loaded("env: {wrappers: ['a:b(1, c=[2, 3])', 'd:e']}").env.wrappers, wrappers);
  const auto typed = Loaded("{}", {"env.wrappers=[a:b(1, c=[2, 3]), d:e]"});
  EXPECT_EQ(typed.env.wrappers, wrappers);
  EXPECT_EQ(Loaded(ResolvedYaml(typed)).env.wrappers, wrappers);
  EXPECT_EQ(Loaded("env: {observation: board_last}").env.observation, ObservationForm::kBoardLast);
  EXPECT_THAT(ErrorOf("env: {step_timeout_s: 0}"), HasSubstr("out of range"));
}

TEST(EnvConfigTest, PluginsAreAList) {
  EXPECT_EQ(Loaded("plugins: [liba.so, /x/libb.so]").plugins,
            (std::vector<std::string>{"liba.so", "/x/libb.so"}));
  EXPECT_EQ(Loaded("plugins: liba.so").plugins, (std::vector<std::string>{"liba.so"}));
  EXPECT_EQ(Loaded("plugins: ['a,b', '[x']").plugins, (std::vector<std::string>{"a,b", "[x"}));
  EXPECT_EQ(Loaded("plugins: []").plugins, std::vector<std::string>());
  EXPECT_EQ(Loaded("plugins: [liba.so]", {"plugins=[b.so, c.so]"}).plugins,
            (std::vector<std::string>{"b.so", "c.so"}));
  EXPECT_EQ(Loaded("plugins: [liba.so]", {"plugins=[]"}).plugins, std::vector<std::string>());
}

TEST(EnvConfigTest, TheResolvedConfigReadsBack) {
  const ExperimentConfig config =
      Loaded("{env: {settings: {a: 'x: y', b: 8}}, plugins: [liba.so, 'lib b.so']}");
  const std::string resolved = ResolvedYaml(config);
  EXPECT_THAT(resolved, HasSubstr("  settings: {a: \"x: y\", b: 8}\n"));
  EXPECT_THAT(resolved, HasSubstr("\nplugins: [liba.so, \"lib b.so\"]\n"));
  const auto again = ParseResolvedConfig(resolved);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->env.settings, config.env.settings);
  EXPECT_EQ(again->plugins, config.plugins);
}

TEST(EnvConfigTest, WhatIsNoMapOrListIsNamed) {
  EXPECT_EQ(ErrorOf("env: {settings: 5}"),
            "f.yaml:1:17: env.settings: a map is needed; got '5'; allowed: {name: value, ...}, or "
            "single entries: this key, then .name=value");
  EXPECT_EQ(ErrorOf("env: {settings: [5]}"),
            "f.yaml:1:17: env.settings: a single value is needed; got a list");
  EXPECT_EQ(ErrorOf("env: {settings: {a: [5]}}"),
            "f.yaml:1:21: env.settings.a: a single value is needed; got a list");
  EXPECT_EQ(ErrorOf("env: {settings: {a: ''}}"),
            "f.yaml:1:21: env.settings.a: empty; got ''; allowed: printable text");
  EXPECT_EQ(ErrorOf("env: {settings: {a: 1, a: 2}}"),
            "f.yaml:1:24: env.settings.a: duplicate key; first set at line 1, column 18");
  EXPECT_EQ(ErrorOf("plugins: {a: b}"),
            "f.yaml:1:10: plugins: a single value is needed; got a map");
  EXPECT_EQ(ErrorOf("plugins: [{a: b}]"),
            "f.yaml:1:10: plugins: a list of single values is needed; got a map in it");
  EXPECT_EQ(ErrorOf("plugins: ['']"),
            "f.yaml:1:10: plugins: an item is a printable text; got '' in it");
  EXPECT_EQ(ErrorOf("seed: 1", {"plugins=a.so,,b.so"}),
            "command line: plugins=a.so,,b.so: an empty item; got 'a.so,,b.so'; allowed: [text, "
            "...]");
  EXPECT_EQ(ErrorOf("seed: 1", {"env.settings=4"}),
            "command line: env.settings=4: a map is needed; got '4'; allowed: {name: value, ...}, "
            "or single "
            "entries: this key, then .name=value");
  EXPECT_THAT(ErrorOf("seed: 1", {"env.id.x=4"}), HasSubstr("unknown key"));
  EXPECT_THAT(ErrorOf("seed: 1", {"env.settings.=4"}), HasSubstr("unknown key"));
}

}  // namespace
}  // namespace lzero::experiment_config_test
