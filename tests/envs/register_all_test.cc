#include "envs/register_all.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/native_checks.h"
#include "lzero/env/vector_env.h"

namespace lzero::register_all_test {
namespace {

const EnvRegistry& Registry() {
  static const EnvRegistry registry = [] {
    EnvRegistry all;
    RegisterAllEnvs(all);
    return all;
  }();
  return registry;
}

std::vector<std::string> Ids() {
  std::vector<std::string> ids;
  for (const EnvRegistry::Entry* entry : Registry().entries()) {
    if (IsNative(*entry)) ids.push_back(entry->id);  // others need Python
  }
  return ids;
}

// More may be added: the tests below take every id that is listed.
TEST(RegisterAllTest, ListsTheNativeEnvironments) {
  EXPECT_THAT(Ids(), testing::IsSupersetOf({"counting",
                                            "catch",
                                            "deep_sea",
                                            "cartpole",
                                            "mountain_car",
                                            "mountain_car_continuous",
                                            "pendulum",
                                            "acrobot",
                                            "tictactoe",
                                            "connect4",
                                            "gomoku",
                                            "othello",
                                            "go",
                                            "hex",
                                            "chess",
                                            "2048",
                                            "visual_match",
                                            "key_to_door",
                                            "minigrid/empty",
                                            "minigrid/fourrooms",
                                            "minigrid/doorkey",
                                            "minigrid/keycorridor",
                                            "minigrid/lavagap",
                                            "minatar/asterix",
                                            "minatar/breakout",
                                            "minatar/freeway",
                                            "minatar/seaquest",
                                            "minatar/space_invaders"}));
}

class EveryEnvTest : public testing::TestWithParam<std::string> {};

TEST_P(EveryEnvTest, Conforms) {
  for (const uint64_t seed : {uint64_t{0}, ~uint64_t{0} - 500}) {
    const auto make = [] { return Registry().Make(GetParam(), {}); };
    for (const ConformanceCheck& check : RunConformance(make, {seed, 1000})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

TEST_P(EveryEnvTest, DrawsItselfAndRefusesANegativeCap) {
  for (const ConformanceCheck& check : RunNativeChecks(Registry(), GetParam(), {})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

TEST_P(EveryEnvTest, StepsTogetherOnThreads) {
  ThreadPool pool(3);
  std::vector<std::unique_ptr<Env>> envs;
  std::vector<EnvId> ids;
  for (int i = 0; i < 8; ++i) {
    envs.push_back(*Registry().Make(GetParam(), {}));
    ids.push_back(EnvId(i));
  }
  const auto vector_env = *VectorEnv::Create(std::move(envs), &pool);
  for (const EnvId id : ids) vector_env->Reset(id, id.value);
  for (int t = 0; t < 30; ++t) {
    std::vector<Action> actions;
    for (const EnvId id : ids) {
      if (vector_env->last(id).ended()) vector_env->Reset(id, 100 + t);
      const EnvSpec& spec = vector_env->spec();
      const auto& mask = vector_env->last(id).legal_action_mask;
      const auto legal = std::find(mask.begin(), mask.end(), 1) - mask.begin();
      actions.push_back(spec.action.kind == ActionKind::kBox
                            ? Action{0, spec.action.low}
                            : Action::Discrete(static_cast<int32_t>(legal)));
    }
    ASSERT_TRUE(vector_env->Step(ids, actions).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryEnvTest, testing::ValuesIn(Ids()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST(RegisterAllTest, BoardsAloneTakeRandomOpenings) {
  EXPECT_TRUE(Registry().Make("tictactoe", {0, 1.0, 6}).ok());
  for (const char* id : {"cartpole", "catch", "counting"}) {
    EXPECT_EQ(Registry().Make(id, {0, 1.0, 6}).status().message(),
              std::string("random_opening_fraction of '") + id +
                  "' is 1; allowed: 0, random openings are for boards");
  }
}

TEST(RegisterAllTest, SolvedGamesCanBeGraded) {
  EXPECT_TRUE(Registry().MakeGrader("tictactoe").ok());
  EXPECT_TRUE(Registry().MakeGrader("connect4").ok());
  EXPECT_THAT(std::string(Registry().MakeGrader("catch").status().message()),
              testing::HasSubstr("environment 'catch' has no exact grader; those with one: "));
}

}  // namespace
}  // namespace lzero::register_all_test
