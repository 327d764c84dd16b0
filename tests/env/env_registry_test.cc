#include "lzero/env/env_registry.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/env/walk_env.h"

namespace lzero::env_registry_test {
namespace {

class NoGrader : public Grader {
 public:
  absl::StatusOr<GradeReport> Grade(const BatchPolicy&) const override { return GradeReport(); }
};

EnvRegistry MakeRegistry() {
  EnvRegistry registry;
  const auto make = [](const EnvOptions& options) -> absl::StatusOr<std::unique_ptr<Env>> {
    EnvSpec spec = WalkSpec();
    spec.max_episode_steps = options.max_episode_steps;
    return std::make_unique<WalkEnv>(spec);
  };
  registry.Register({"walk", "a walk", make});
  registry.Register({"board", "a board", make, [] { return std::make_unique<NoGrader>(); }});
  return registry;
}

TEST(EnvRegistryTest, MakesWithTheOptionsGiven) {
  const EnvRegistry registry = MakeRegistry();
  const auto env = registry.Make("walk", {7, 0.0, 6});
  ASSERT_TRUE(env.ok());
  EXPECT_EQ((*env)->spec().max_episode_steps, 7);
}

TEST(EnvRegistryTest, EntriesAreSorted) {
  const EnvRegistry registry = MakeRegistry();
  const auto entries = registry.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0]->id, "board");
  EXPECT_EQ(entries[1]->summary, "a walk");
}

TEST(EnvRegistryTest, AnUnknownIdNamesTheNearest) {
  const EnvRegistry registry = MakeRegistry();
  const absl::Status near = registry.Make("wolk", {}).status();
  EXPECT_EQ(near.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(near.message(), "no environment 'wolk'; did you mean 'walk'? (known: board, walk)");
  EXPECT_EQ(registry.Find("zzzzzzzz").status().message(),
            "no environment 'zzzzzzzz' (known: board, walk)");
  EXPECT_EQ(registry.MakeGrader("bord").status().message(),
            "no environment 'bord'; did you mean 'board'? (known: board, walk)");
}

TEST(EnvRegistryTest, AnIdOfAPluginNeedsAPlugin) {
  EnvRegistry registry = MakeRegistry();
  EXPECT_EQ(registry.Find("plugin:work").status().message(),
            "no environment 'plugin:work'; no plugin is loaded: a config names the library in "
            "`plugins`, `envs` with --plugin (known: board, walk)");
  EnvRegistry::Entry entry = **registry.Find("walk");
  entry.id = "plugin:walk";
  registry.Register(entry);
  EXPECT_EQ(registry.Find("plugin:work").status().message(),
            "no environment 'plugin:work'; did you mean 'plugin:walk'? (known: board, plugin:walk, "
            "walk)");
}

TEST(EnvRegistryTest, ASpecWithAnotherIdIsRefused) {
  const absl::Status other = MakeRegistry().Make("board", {}).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(other.message(),
            "environment 'board': its spec() says id 'walk'; allowed: the id that it is registered "
            "under, 'board'");
}

TEST(EnvRegistryTest, GradersBelongToTheirEnvironment) {
  const EnvRegistry registry = MakeRegistry();
  EXPECT_TRUE(registry.MakeGrader("board").ok());
  const absl::Status missing = registry.MakeGrader("walk").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "environment 'walk' has no exact grader; those with one: board");
}

// "far:" and anything, in groups; it remembers what it was given.
EnvRegistry MakeFamilies(std::vector<EnvOptions>* given) {
  EnvRegistry registry = MakeRegistry();
  const auto make = [given](const EnvOptions& options) -> absl::StatusOr<std::unique_ptr<Env>> {
    given->push_back(options);
    EnvSpec spec = WalkSpec();
    spec.id = options.id;
    return std::make_unique<WalkEnv>(spec);
  };
  using Envs = std::vector<std::unique_ptr<Env>>;
  const auto group = [make](const EnvOptions& options, int count) -> absl::StatusOr<Envs> {
    Envs envs;
    for (int i = 0; i < count; ++i) envs.push_back(*make(options));
    return envs;
  };
  EnvRegistry::Entry entry{"far:", "any far walk", make};
  entry.takes_any_setting = true;
  entry.group = group;
  registry.Register(entry);
  entry = {"far:sea/", "a far walk by the sea", make};
  entry.settings = {EnvSetting::Int("depth", 3, 1, 9, "metres")};
  registry.Register(entry);
  entry = {"sized", "a walk of a size", make};
  entry.settings = {EnvSetting::Int("board_size", 5, 3, 9, "squares")};
  registry.Register(entry);
  return registry;
}

TEST(EnvRegistryTest, FamiliesTakeEveryIdThatBeginsWithTheirs) {
  std::vector<EnvOptions> given;
  const EnvRegistry registry = MakeFamilies(&given);
  EXPECT_EQ((*registry.Make("far:away", {}))->spec().id, "far:away");
  EXPECT_EQ((*registry.Find("far:sea/side"))->id, "far:sea/");
  EXPECT_EQ((*registry.Find("far:sea"))->id, "far:");
  EXPECT_EQ(registry.Find("far:").status().code(), absl::StatusCode::kOk);  // the entry itself
  EXPECT_EQ(registry.Find("walk:x").status().code(), absl::StatusCode::kNotFound);
}

TEST(EnvRegistryTest, NamesOfGymnasiumGetTheirFamily) {
  std::vector<EnvOptions> given;
  EnvRegistry registry = MakeFamilies(&given);
  const auto has_hint = [&](const std::string& id) {
    const std::string message(registry.Find(id).status().message());
    return message.find(absl::StrCat("; did you mean 'gymnasium:", id, "'? (known: ")) !=
           message.npos;
  };
  EXPECT_FALSE(has_hint("CartPole-v1")) << "there is no such family";
  registry.Register({"gymnasium:", "for tests", (*registry.Find("walk"))->factory});
  EXPECT_TRUE(has_hint("CartPole-v1"));
  EXPECT_TRUE(has_hint("ALE/Pong-v5"));
  EXPECT_TRUE(has_hint("my_module:MyEnv-v10"));
  EXPECT_FALSE(has_hint("CartPole"));
  EXPECT_FALSE(has_hint("CartPole-v"));
  EXPECT_FALSE(has_hint("CartPole-vx"));
  EXPECT_FALSE(has_hint("-v1"));
}

TEST(EnvRegistryTest, GroupsAreMadeTogetherOrOneByOne) {
  std::vector<EnvOptions> given;
  const EnvRegistry registry = MakeFamilies(&given);
  EXPECT_EQ(registry.MakeGroup("far:away", {}, 3)->size(), 3u);
  EXPECT_EQ(registry.MakeGroup("sized", {}, 2)->size(), 2u);
  EXPECT_EQ(given.size(), 5u);
  EXPECT_EQ(registry.MakeGroup("board", {}, 2).status().code(),
            absl::StatusCode::kFailedPrecondition);  // its spec says another id
}

TEST(EnvRegistryTest, SettingsAreCheckedBeforeTheFactorySeesThem) {
  std::vector<EnvOptions> given;
  const EnvRegistry registry = MakeFamilies(&given);
  EnvOptions options;
  options.board_size = 7;
  ASSERT_TRUE(registry.Make("sized", options).ok());
  EXPECT_EQ(given.back().settings, (EnvSettingTexts{{"board_size", "7"}}));
  EXPECT_EQ(given.back().board_size, 0);
  options.board_size = 10;
  EXPECT_EQ(registry.Make("sized", options).status().message(),
            "board_size of 'sized': out of range; got '10'; allowed: an integer from 3 to 9");
  options.settings = {{"board_size", "4"}};
  EXPECT_EQ(registry.Make("sized", options).status().message(),
            "board_size of 'sized' is given twice, by env.board_size and by env.settings");
  EXPECT_EQ(registry.Make("walk", options).status().message(),
            "board_size of 'walk' is 10; allowed: 0, it comes in one size");
  options = {};
  options.settings = {{"speed", "fast"}};
  EXPECT_EQ(registry.Make("walk", options).status().message(),
            "'walk' has no setting 'speed'; allowed: none");
  EXPECT_TRUE(registry.Make("far:away", options).ok());
  EXPECT_EQ(given.back().settings, options.settings);
  EXPECT_FALSE(registry.Make("far:sea/side", options).ok());
  EXPECT_EQ(given.size(), 2u);
}

TEST(EnvRegistryTest, OptionsThatDoNotFitAreRefused) {
  EXPECT_TRUE(CheckStepCap("walk", {0, 0.0, 6}).ok());
  EXPECT_TRUE(CheckStepCap("walk", {1, 0.0, 6}).ok());
  EXPECT_EQ(CheckStepCap("walk", {-1, 0.0, 6}).message(),
            "max_episode_steps of 'walk' is -1; allowed: 0 (its own cap) or a positive number");
  EXPECT_TRUE(CheckNoStepCap("board", {0, 0.0, 6}, 9).ok());
  EXPECT_TRUE(CheckNoStepCap("board", {9, 0.0, 6}, 9).ok());
  EXPECT_EQ(CheckNoStepCap("board", {8, 0.0, 6}, 9).message(),
            "max_episode_steps of 'board' is 8; allowed: 0 or at least 9, since a game is over "
            "after at most 9 steps and is never cut short");
  EXPECT_TRUE(CheckNoRandomOpenings("walk", {0, 0.0, 6}).ok());
  EXPECT_EQ(CheckNoRandomOpenings("walk", {0, 0.5, 6}).message(),
            "random_opening_fraction of 'walk' is 0.5; allowed: 0, random openings are for boards");
}

TEST(EnvRegistryDeathTest, TheSameIdTwiceIsOurBug) {
  EnvRegistry registry = MakeRegistry();
  const EnvRegistry::Entry again = *registry.entries()[1];
  EXPECT_DEATH(registry.Register(again), "environment 'walk' is registered twice");
}

}  // namespace
}  // namespace lzero::env_registry_test
