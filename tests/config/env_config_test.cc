#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"

namespace lzero::env_config_test {
namespace {

using testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

ExperimentConfig Loaded(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto loaded = LoadConfigText(text, "f.yaml", overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->config : ExperimentConfig();
}

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return std::string(LoadConfigText(text, "f.yaml", overrides).status().message());
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
}

TEST(EnvConfigTest, WorkersHaveTheirKeys) {
  const EnvConfig env =
      Loaded("env: {num_workers: 2, max_restarts: 0, step_timeout_s: 1.5, python: /x/python}").env;
  EXPECT_EQ(env.num_workers, 2);
  EXPECT_EQ(env.max_restarts, 0);
  EXPECT_EQ(env.step_timeout_s, 1.5);
  EXPECT_EQ(env.python, "/x/python");
  EXPECT_THAT(ErrorOf("env: {step_timeout_s: 0}"), HasSubstr("out of range"));
}

TEST(EnvConfigTest, PluginsAreAList) {
  EXPECT_EQ(Loaded("plugins: [liba.so, /x/libb.so]").plugins,
            (std::vector<std::string>{"liba.so", "/x/libb.so"}));
  EXPECT_EQ(Loaded("plugins: liba.so").plugins, (std::vector<std::string>{"liba.so"}));
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
  EXPECT_EQ(ErrorOf("plugins: ['a,b']"),
            "f.yaml:1:10: plugins: an item may hold no comma; got 'a,b'");
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
}  // namespace lzero::env_config_test
