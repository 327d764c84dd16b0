#include "lzero/env/env_registry.h"

#include <gtest/gtest.h>

#include "tests/env/walk_env.h"

namespace lzero {
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
}  // namespace lzero
