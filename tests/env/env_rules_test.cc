// What a config must keep to because of its environment, and where the report points.
#include "lzero/env/env_rules.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/config/load.h"
#include "tests/env/walk_env.h"

namespace lzero::env_rules_test {
namespace {

EnvRegistry Native() {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  return registry;
}

// "first key: message" of each error.
std::vector<std::string> ErrorsOf(const ExperimentConfig& config) {
  std::vector<std::string> lines;
  for (const ConsistencyError& error : EnvErrors(config, Native())) {
    lines.push_back(absl::StrCat(error.keys[0], ": ", error.message));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(EnvRulesTest, WhatFitsHasNoErrors) {
  ExperimentConfig config;
  EXPECT_EQ(ErrorsOf(config), Lines());
  config.env.max_episode_steps = 200;
  EXPECT_EQ(ErrorsOf(config), Lines());
  config.env = EnvConfig();
  config.env.id = "tictactoe";
  config.env.random_opening_fraction = 0.5;
  config.env.random_opening_plies = 8;
  config.model.encoder = EncoderKind::kBoard;
  EXPECT_EQ(ErrorsOf(config), Lines());
}

TEST(EnvRulesTest, SettingsOfWorkersAreReadByWorkersAlone) {
  ExperimentConfig config;
  config.env.num_workers = 2;
  config.env.step_timeout_s = 3.5;
  EXPECT_EQ(ErrorsOf(config), Lines());
  const std::vector<ConsistencyError> errors = UnreadWorkerSettings(config, Native());
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].keys, std::vector<std::string>({"env.num_workers", "env.id"}));
  EXPECT_EQ(errors[0].message,
            "it has no effect with env.id cartpole; got 2; allowed: 0, its default, or another "
            "env.id");
  EXPECT_TRUE(errors[0].only_if_set_after);
  EXPECT_EQ(errors[1].keys[0], "env.step_timeout_s");
  config.env.id = "gymnasium:CartPole-v1";
  EXPECT_TRUE(UnreadWorkerSettings(config, Native()).empty());
}

TEST(EnvRulesTest, AnUnknownIdIsNamedWithTheNearest) {
  ExperimentConfig config;
  config.env.id = "cartpol";
  config.env.max_episode_steps = -1;
  const std::string unknown(Native().Find("cartpol").status().message());
  EXPECT_EQ(unknown.find("no environment 'cartpol'; did you mean 'cartpole'? (known: "), 0u);
  EXPECT_EQ(ErrorsOf(config), Lines{"env.id: " + unknown});
}

TEST(EnvRulesTest, EverySettingThatDoesNotFitIsNamed) {
  ExperimentConfig config;
  config.env.id = "catch";
  config.env.max_episode_steps = 3;
  config.env.random_opening_fraction = 0.5;
  EXPECT_EQ(ErrorsOf(config),
            (Lines{"env.max_episode_steps: max_episode_steps of 'catch' is 3; allowed: 0 or at "
                   "least 9, since a game is over after at most 9 steps and is never cut short",
                   "env.random_opening_fraction: random_opening_fraction of 'catch' is 0.5; "
                   "allowed: 0, random openings are for boards"}));
  config.env = EnvConfig();
  config.env.id = "tictactoe";
  config.env.random_opening_fraction = 0.5;
  config.env.random_opening_plies = 9;
  EXPECT_EQ(ErrorsOf(config), Lines{"env.random_opening_plies: random_opening_plies of "
                                    "'tictactoe' is 9; allowed: 1 .. 8"});
}

TEST(EnvRulesTest, SettingsOfItsOwnAreNamedWhereTheyWereSet) {
  ExperimentConfig config;
  config.env.board_size = 5;
  EXPECT_EQ(ErrorsOf(config), Lines{"env.board_size: board_size of 'cartpole' is 5; allowed: 0, it "
                                    "comes in one size"});
  config.env.board_size = 0;
  config.env.settings = {{"size", "5"}};
  EXPECT_EQ(ErrorsOf(config),
            Lines{"env.settings: 'cartpole' has no setting 'size'; allowed: none"});
}

TEST(EnvRulesTest, AnEncoderMustFitTheObservations) {
  ExperimentConfig config;
  config.model.encoder = EncoderKind::kBoard;
  EXPECT_EQ(ErrorsOf(config),
            Lines{"model.encoder: board needs observations [channels, height, width]; cartpole "
                  "gives [4]; allowed: vector"});
}

TEST(EnvRulesTest, ABoardIsNoImage) {
  ExperimentConfig config;
  config.env.id = "tictactoe";
  config.model.encoder = EncoderKind::kImage;
  EXPECT_EQ(ErrorsOf(config),
            Lines{"model.encoder: image needs observations [channels, height, width] with sides "
                  "of 16 or more; tictactoe gives [3, 3, 3]; allowed: board, vector"});
}

// The trio was copied, the id in its spec was not changed.
TEST(EnvRulesTest, AnIdThatIsNotTheSpecsIsAnError) {
  EnvRegistry registry;
  registry.Register(
      {"stroll", "for tests", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return std::make_unique<WalkEnv>(WalkSpec());
       }});
  ExperimentConfig config;
  config.env.id = "stroll";
  const auto errors = EnvErrors(config, registry);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].keys, std::vector<std::string>{"env.id"});
  EXPECT_EQ(errors[0].message,
            "environment 'stroll': its spec() says id 'walk'; allowed: the id that it is "
            "registered under, 'stroll'");
}

TEST(EnvRulesTest, AnEnvironmentThatCannotBeMadeIsOneError) {
  EnvRegistry registry;
  registry.Register(
      {"broken", "for tests", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return absl::UnavailableError("its library is missing");
       }});
  ExperimentConfig config;
  config.env.id = "broken";
  const auto errors = EnvErrors(config, registry);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "its library is missing");
}

TEST(EnvRulesTest, PluginsAreLoadedBeforeTheIdIsLookedUp) {
  const std::string walk = absl::StrCat(LZ_TEST_PLUGINS, "/libwalk_plugin.so");
  ExperimentConfig config;
  config.env.id = "plugin:walk";
  config.plugins = {walk};
  EXPECT_EQ(ErrorsOf(config), Lines());
  config.env.settings["length"] = "1";
  EXPECT_EQ(ErrorsOf(config), Lines{"env.settings: length of 'plugin:walk': out of range; got '1'; "
                                    "allowed: an integer from 2 to 50"});
  const auto registry = RegistryWithPlugins(config, Native());
  ASSERT_TRUE(registry.ok()) << registry.status();
  EXPECT_EQ(registry->entries().size(), Native().entries().size() + 2);
}

// An id of a plugin that does not load is no second error; another one is.
TEST(EnvRulesTest, APluginThatDoesNotLoadIsAnErrorOfItsKey) {
  ExperimentConfig config;
  config.env.id = "plugin:walk";
  config.plugins = {"/no/such/libx.so"};
  const std::string missing =
      "plugins: /no/such/libx.so: no such plugin; there is no folder /no/such";
  EXPECT_EQ(ErrorsOf(config), Lines{missing});
  config.env.id = "cartpol";
  ASSERT_EQ(ErrorsOf(config).size(), 2u);
  EXPECT_EQ(ErrorsOf(config)[0], missing);
  config.env.id = "cartpole";
  config.plugins = {"/a,b/libx.so"};
  EXPECT_EQ(ErrorsOf(config), Lines{"plugins: /a,b/libx.so: a path that a config cannot hold; "
                                    "allowed: printable, no comma"});
}

// The report of loading: one, with other problems, each at the key that was set.
TEST(EnvRulesTest, LoadingReportsThemWhereTheyWereSet) {
  const std::string folder = absl::StrCat(testing::TempDir(), "env_rules_", getpid());
  ASSERT_TRUE(MakeDirectories(folder).ok());
  ASSERT_TRUE(WriteFileAtomic(folder + "/base.yaml", "env: {id: catch}\n").ok());
  const std::string path = folder + "/top.yaml";
  const std::string text =
      "extends: base.yaml\nenv: {max_episode_steps: 3}\ntrain: {bach_size: 3}\n";
  ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  const EnvRegistry registry = Native();
  EXPECT_EQ(
      LoadConfig(path, {}, EnvRule(registry)).status().message(),
      absl::StrCat(path, ":3:9: train.bach_size: unknown key; did you mean 'train.batch_size'?\n",
                   path,
                   ":2:26: env.max_episode_steps: max_episode_steps of 'catch' is 3; "
                   "allowed: 0 or at least 9, since a game is over after at most 9 steps and "
                   "is never cut short"));
  const std::vector<std::string> overrides = {"env.id=cach"};
  EXPECT_EQ(LoadConfig(folder + "/base.yaml", overrides, EnvRule(registry)).status().message(),
            absl::StrCat("command line: env.id=cach: ", registry.Find("cach").status().message()));
  // A setting that could not be read is in doubt: nothing more is said about it.
  ASSERT_TRUE(WriteFileAtomic(path, "env: {id: catch, max_episode_steps: x}\n").ok());
  EXPECT_EQ(LoadConfig(path, {}, EnvRule(registry)).status().message().find('\n'),
            absl::string_view::npos);
  ASSERT_TRUE(RemoveTree(folder).ok());
}

}  // namespace
}  // namespace lzero::env_rules_test
