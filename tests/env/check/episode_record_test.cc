#include "lzero/env/check/episode_record.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/env/walk_env.h"

namespace lzero::episode_record_test {
namespace {

TEST(EpisodeRecordTest, RandomActionsAreLegalAndReachAll) {
  RandomStream random(1);
  std::vector<int> count(4, 0);
  EnvSpec spec;
  spec.action.num_actions = 4;
  for (int i = 0; i < 300; ++i) {
    ++count[RandomAction(spec, {1, 0, 1, 1}, random)->index];
  }
  EXPECT_EQ(count[1], 0);
  for (const int index : {0, 2, 3}) EXPECT_GT(count[index], 60);
}

TEST(EpisodeRecordTest, RandomBoxActionsStayInside) {
  RandomStream random(1);
  const float infinity = std::numeric_limits<float>::infinity();
  EnvSpec spec;
  spec.action = {ActionKind::kBox, 0, {2.0f, -infinity}, {3.0f, infinity}};
  for (int i = 0; i < 100; ++i) {
    const Action action = *RandomAction(spec, {}, random);
    EXPECT_GE(action.values[0], 2.0f);
    EXPECT_LE(action.values[0], 3.0f);
    EXPECT_LT(std::fabs(action.values[1]), 10.0f);
  }
}

TEST(EpisodeRecordTest, RandomBoxActionsOfHugeBoundsAreFinite) {
  RandomStream random(1);
  const float most = std::numeric_limits<float>::max();
  EnvSpec spec;
  spec.action = {ActionKind::kBox, 0, {-most}, {most}};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(std::isfinite(RandomAction(spec, {}, random)->values[0]));
  }
}

TEST(EpisodeRecordTest, AMaskWithoutActionsIsAnError) {
  RandomStream random(1);
  EnvSpec spec = WalkSpec();
  EXPECT_EQ(RandomAction(spec, {0, 0, 0}, random).status().message(),
            "'walk' offers no legal action in a running episode");
}

TEST(EpisodeRecordTest, RecordsEveryStep) {
  WalkEnv env;
  const auto record = PlayRandomEpisode(env, 6, 1000);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->seed, 6u);
  EXPECT_EQ(record->steps.size(), record->actions.size() + 1);
  EXPECT_TRUE(record->steps.back().ended());
  EXPECT_EQ(PlayRandomEpisode(env, 6, 3)->actions.size(), 3u);
}

TEST(EpisodeRecordTest, DifferencesNameTheField) {
  TimeStep expected;
  expected.observation = {1.0f, 0.0f};
  expected.legal_action_mask = {1};
  EXPECT_EQ(TimeStepDifference(expected, expected), "");
  const auto changed = [&](auto&& change) {
    TimeStep got = expected;
    change(got);
    return TimeStepDifference(got, expected);
  };
  EXPECT_EQ(changed([](TimeStep& step) { step.observation.pop_back(); }),
            "size of the observation is 1, expected 2");
  EXPECT_EQ(changed([](TimeStep& step) { step.observation[1] = -0.0f; }),
            "observation[1] is -0.0, expected 0.0");
  EXPECT_EQ(changed([](TimeStep& step) { step.legal_action_mask[0] = 0; }),
            "legal_action_mask differs");
  EXPECT_EQ(changed([](TimeStep& step) { step.to_play = 1; }), "to_play is 1, expected 0");
  EXPECT_EQ(changed([](TimeStep& step) { step.reward = 2; }), "reward is 2.0, expected 0.0");
  EXPECT_EQ(changed([](TimeStep& step) { step.terminated = true; }), "terminated is 1, expected 0");
  EXPECT_EQ(changed([](TimeStep& step) { step.truncated = true; }), "truncated is 1, expected 0");
  EXPECT_EQ(changed([](TimeStep& step) { step.episode_return = 0.5; }),
            "episode_return is 0.5, expected 0.0");
}

}  // namespace
}  // namespace lzero::episode_record_test
