#include "lzero/env/check/rollout.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/env/walk_env.h"

namespace lzero::rollout_test {
namespace {

TEST(RolloutTest, PlaysGivenActionsAndStartsAnewAtTheEnd) {
  WalkEnv env;
  RolloutOptions options;
  options.seed = 1;  // starts at 1, the next episode at 0
  options.actions = std::vector<Action>(5, Action::Discrete(2));
  const auto trace = RecordRollout(env, options);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->meta.env, "walk");
  EXPECT_EQ(trace->meta.max_episode_steps, 20);
  ASSERT_EQ(trace->episodes.size(), 2u);
  EXPECT_EQ(trace->episodes[0].steps.size(), 4u);
  EXPECT_EQ(trace->episodes[0].steps[3].reward, 1.0);
  EXPECT_TRUE(trace->episodes[0].steps[3].terminated);
  EXPECT_EQ(trace->episodes[0].steps[3].state, std::vector<double>{5.0});
  EXPECT_EQ(trace->episodes[1].seed, 2u);
  EXPECT_EQ(trace->episodes[1].state, std::vector<double>{0.0});
  EXPECT_EQ(trace->episodes[1].steps.size(), 1u);
}

// Episodes of the walk that begin at seed % 2 and end at 5, as above.
TEST(RolloutTest, AWatcherIsToldOfEveryResetAndStep) {
  WalkEnv env;
  RolloutOptions options;
  options.seed = 1;
  options.actions = std::vector<Action>(5, Action::Discrete(2));
  std::vector<std::string> told;
  const absl::Status status = PlayRollout(env, options, [&](const RolloutEvent& event) {
    told.push_back(absl::StrCat(event.episode, " ", event.seed, " ", event.t, " ",
                                event.action == nullptr ? -1 : event.action->index, " ",
                                event.seen.terminated));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(told, (std::vector<std::string>{"0 1 0 -1 0", "0 1 1 2 0", "0 1 2 2 0", "0 1 3 2 0",
                                            "0 1 4 2 1", "1 2 0 -1 0", "1 2 1 2 0"}));
}

TEST(RolloutTest, AWatcherCanEndARollout) {
  WalkEnv env;
  RolloutOptions options;
  int num_told = 0;
  const absl::Status status = PlayRollout(env, options, [&](const RolloutEvent&) {
    return ++num_told == 3 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(status, absl::CancelledError("enough"));
  EXPECT_EQ(num_told, 3);
}

TEST(RolloutTest, RandomActionsFollowTheSeedAndReplay) {
  WalkEnv env;
  RolloutOptions options;
  options.seed = 3;
  options.num_steps = 300;
  const Trace trace = *RecordRollout(env, options);
  EXPECT_EQ(TraceText(trace), TraceText(*RecordRollout(env, options)));
  options.seed = 4;
  EXPECT_NE(TraceText(trace), TraceText(*RecordRollout(env, options)));
  const Trace read = *ParseTrace(TraceText(trace));
  EXPECT_TRUE(ReplayTrace(env, read, false)->differences.empty());
  EXPECT_TRUE(ReplayTrace(env, read, true)->differences.empty());
}

TEST(RolloutTest, ARefusedActionIsNamedByItsNumber) {
  WalkEnv env;
  RolloutOptions options;
  options.actions = {{Action::Discrete(1), Action::Discrete(0)}};
  EXPECT_EQ(RecordRollout(env, options).status().message(),
            "action number 2: action 0 is illegal here; 'walk' takes now: 1 2");
}

TEST(RolloutTest, ReadsActionFiles) {
  const auto discrete = ParseActions("0 1,2 # three\n\n  3\r\n", ActionKind::kDiscrete);
  ASSERT_TRUE(discrete.ok());
  ASSERT_EQ(discrete->size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ((*discrete)[i].index, i);
  const auto box = ParseActions("0.5, -1\n# nothing\n2\n", ActionKind::kBox);
  ASSERT_TRUE(box.ok());
  ASSERT_EQ(box->size(), 2u);
  EXPECT_EQ((*box)[0].values, (std::vector<float>{0.5f, -1.0f}));
  EXPECT_EQ((*box)[1].values, (std::vector<float>{2.0f}));
}

TEST(RolloutTest, BrokenActionFilesNameTheLine) {
  EXPECT_EQ(ParseActions("1\nleft\n", ActionKind::kDiscrete).status().message(),
            "line 2: 'left' is not an integer");
  EXPECT_EQ(ParseActions("1.5", ActionKind::kDiscrete).status().message(),
            "line 1: '1.5' is not an integer");
  EXPECT_EQ(ParseActions("1 x", ActionKind::kBox).status().message(),
            "line 1: 'x' is not a number");
}

std::vector<std::unique_ptr<Env>> Walks(int count) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<WalkEnv>());
  return envs;
}

TEST(EnvSpeedTest, CountsStepsAndEpisodesForAsLongAsAsked) {
  for (const int count : {1, 3}) {
    const auto speed = MeasureEnvSpeed(Walks(count), 0.01);
    ASSERT_TRUE(speed.ok()) << speed.status();
    EXPECT_GE(speed->seconds, 0.01);
    // A walk lasts 4 to 20 steps.
    EXPECT_GE(speed->num_steps, 4 * (speed->num_episodes - count));
    EXPECT_LE(speed->num_steps, 20 * speed->num_episodes);
  }
}

// Refuses to go on after some steps.
class Tired : public WalkEnv {
 protected:
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (uint8_t& legal : mask) legal = 0;
  }
};

TEST(EnvSpeedTest, PassesErrorsOn) {
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<Tired>());
  EXPECT_EQ(MeasureEnvSpeed(std::move(envs), 0.01).status().message(),
            "'walk' offers no legal action in a running episode");
}

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
}  // namespace lzero::rollout_test
