#include "lzero/env/check/rollout.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lzero::rollout_test
