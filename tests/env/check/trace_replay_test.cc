#include "lzero/env/check/trace_replay.h"

#include <gtest/gtest.h>

#include "lzero/env/check/rollout.h"
#include "tests/env/walk_env.h"

namespace lzero::trace_replay_test {
namespace {

// Two hand-made episodes of the walk (see walk_env.h): 0 -> 1 -> 2, and 1 -> ... -> 5.
Trace WalkTrace() {
  constexpr char kText[] = R"({"type":"meta","env":"walk","max_episode_steps":20}
{"type":"reset","episode":0,"seed":4,"state":[0],"obs":[0,1]}
{"type":"step","t":0,"action":2,"obs":[1,-1],"reward":0,"terminated":false,"truncated":false,"state":[1]}
{"type":"step","t":1,"action":2,"obs":[2,1],"reward":0,"terminated":false,"truncated":false,"state":[2]}
{"type":"reset","episode":1,"seed":5,"state":[1],"obs":[1,-1]}
{"type":"step","t":0,"action":2,"obs":[2,1],"reward":0,"terminated":false,"truncated":false,"state":[2]}
{"type":"step","t":1,"action":2,"obs":[3,-1],"reward":0,"terminated":false,"truncated":false,"state":[3]}
{"type":"step","t":2,"action":2,"obs":[4,1],"reward":0,"terminated":false,"truncated":false,"state":[4]}
{"type":"step","t":3,"action":2,"obs":[5,-1],"reward":1,"terminated":true,"truncated":false,"state":[5]}
)";
  return *ParseTrace(kText);
}

std::vector<std::string> Differences(const Trace& trace, bool whole = false) {
  WalkEnv env;
  const auto report = ReplayTrace(env, trace, whole);
  EXPECT_TRUE(report.ok()) << report.status();
  return report->differences;
}

TEST(TraceReplayTest, ATrueRecordingAgreesEitherWay) {
  WalkEnv env;
  const auto one_step = ReplayTrace(env, WalkTrace(), false);
  EXPECT_TRUE(one_step->differences.empty());
  EXPECT_EQ(one_step->num_episodes, 2);
  EXPECT_EQ(one_step->num_whole, 0);
  EXPECT_EQ(one_step->num_steps, 6);
  const auto whole = ReplayTrace(env, WalkTrace(), true);
  EXPECT_TRUE(whole->differences.empty());
  EXPECT_EQ(whole->num_whole, 2);
}

TEST(TraceReplayTest, TheFirstDifferenceOfEachEpisodeIsNamed) {
  Trace trace = WalkTrace();
  trace.episodes[0].steps[0].observation[0] = 1.5f;
  trace.episodes[0].steps[1].observation[0] = 7.0f;
  trace.episodes[1].steps[3].reward = 0.5;
  EXPECT_EQ(Differences(trace), (std::vector<std::string>{
                                    "line 3: episode 0 step 0: observation[0] is 1.0, recorded 1.5",
                                    "line 9: episode 1 step 3: reward is 1.0, recorded 0.5"}));
}

TEST(TraceReplayTest, ToleranceIsOneMillionth) {
  Trace trace = WalkTrace();
  trace.episodes[0].steps[0].observation[0] = 1.0000005f;
  trace.episodes[1].steps[3].reward = 1.0 + 9e-7;
  EXPECT_TRUE(Differences(trace).empty());
  trace.episodes[1].steps[3].reward = 1.0 + 3e-6;
  EXPECT_EQ(Differences(trace).size(), 1u);
}

TEST(TraceReplayTest, StartsMustBeExact) {
  Trace trace = WalkTrace();
  trace.episodes[0].state = {{1e-300}};
  trace.episodes[1].observation = {1.0f};
  EXPECT_EQ(Differences(trace),
            (std::vector<std::string>{
                "line 2: episode 0 start (seed 4): start state[0] is 0.0, recorded 1e-300",
                "line 5: episode 1 start (seed 5): size of the observation is 2, recorded 1"}));
  trace.episodes[0].state = {{0.0, 0.0}};
  EXPECT_EQ(Differences(trace)[0],
            "line 2: episode 0 start (seed 4): size of the start state is 1, recorded 2");
}

TEST(TraceReplayTest, FlagsMustBeEqual) {
  Trace trace = WalkTrace();
  trace.episodes[0].steps[1].truncated = true;
  trace.episodes[1].steps[3].terminated = false;
  EXPECT_EQ(
      Differences(trace),
      (std::vector<std::string>{"line 4: episode 0 step 1: truncated is false, recorded true",
                                "line 9: episode 1 step 3: terminated is true, recorded false"}));
}

TEST(TraceReplayTest, RefusedActionsAndStatesAreDifferences) {
  Trace trace = WalkTrace();
  trace.episodes[0].steps[0].action = Action::Discrete(0);
  trace.episodes[1].steps[0].state = {{9.0}};
  EXPECT_EQ(Differences(trace),
            (std::vector<std::string>{
                "line 3: episode 0 step 0: step refused: action 0 is illegal here; 'walk' takes "
                "now: 1 2",
                "line 7: episode 1 step 1: recorded state refused: a state of 'walk' is one "
                "number, 0 .. 4"}));
}

// One step taken alone begins at step 0, and the cap of the recording still holds.
TEST(TraceReplayTest, TheCapIsKnownStepByStep) {
  WalkEnv env;
  RolloutOptions options;
  options.num_steps = 20;
  options.actions = std::vector<Action>(20, Action::Discrete(1));
  Trace trace = *RecordRollout(env, options);
  ASSERT_TRUE(trace.episodes[0].steps[19].truncated);
  EXPECT_TRUE(Differences(trace).empty());
  EXPECT_TRUE(Differences(trace, true).empty());
  trace.episodes[0].steps[19].truncated = false;
  EXPECT_EQ(Differences(trace)[0], "line 0: episode 0 step 19: truncated is true, recorded false");
}

TEST(TraceReplayTest, WithoutStatesEpisodesArePlayedWhole) {
  Trace trace = WalkTrace();
  trace.episodes[1].steps[1].state.reset();
  WalkEnv env;
  const auto report = ReplayTrace(env, trace, false);
  EXPECT_EQ(report->num_whole, 1);
  EXPECT_TRUE(report->differences.empty());
  EnvSpec spec = WalkSpec();
  spec.can_set_state = false;
  WalkEnv without(spec);
  EXPECT_EQ(ReplayTrace(without, trace, false)->num_whole, 2);
}

TEST(TraceReplayTest, GamesAreCheckedMoveByMove) {
  const auto with_game = [](const TraceGame& game) {
    Trace trace;
    trace.games.push_back(game);
    return Differences(trace);
  };
  const std::vector<int32_t> moves = {2, 2, 2, 2, 2};
  EXPECT_TRUE(with_game({moves, {2, 3, 3, 3, 3}, {1.0, -1.0}, 9}).empty());
  EXPECT_EQ(with_game({moves, {2, 3, 2, 3, 3}, {1.0, -1.0}, 9})[0],
            "line 9: game 0: move 2 (2): number of legal moves is 3, recorded 2");
  EXPECT_EQ(with_game({moves, {2, 3, 3, 3, 3}, {0.0, 0.0}, 9})[0],
            "line 9: game 0: return of player 0 is 1.0, recorded 0.0");
  EXPECT_EQ(with_game({{2}, {2}, {1.0, -1.0}, 9})[0],
            "line 9: game 0: the game is not over, recorded as over");
  EXPECT_TRUE(with_game({{2}, {2}, {}, 9}).empty());
  EXPECT_EQ(with_game({{0}, {2}, {}, 9})[0],
            "line 9: game 0: move 0 (0): refused: action 0 is illegal here; 'walk' takes now: 1 2");
}

TEST(TraceReplayTest, LegalSetsAreComparedWhereTheyWereRecorded) {
  const auto with_changes = [](const std::vector<std::vector<int32_t>>& changes) {
    Trace trace;
    trace.games.push_back({{2, 2}, {2, 3}, {}, 9, changes});
    return Differences(trace);
  };
  EXPECT_TRUE(with_changes({{1, 2}, {0}}).empty());
  EXPECT_EQ(with_changes({{0, 2}, {1}})[0],
            "line 9: game 0: move 0 (2): the set of legal moves is {1 2}, recorded {0 2}");
  EXPECT_EQ(with_changes({{1, 2}, {}})[0],
            "line 9: game 0: move 1 (2): the set of legal moves is {0 1 2}, recorded {1 2}");
  EXPECT_EQ(with_changes({{1, 3}, {}})[0],
            "line 9: game 0: move 0 (2): 'legal_changes' names action 3 of 3");
}

TEST(TraceReplayTest, GamesDoNotGoWithRandomOpenings) {
  WalkEnv env;
  Trace trace;
  trace.meta.random_opening_fraction = 0.5;
  trace.games.push_back({{2}, {2}, {}, 9});
  EXPECT_EQ(ReplayTrace(env, trace, false).status().message(),
            "line 9: a game in a trace with random openings; games begin with their first move");
}

TEST(TraceReplayTest, AnotherKindOfActionIsRefused) {
  WalkEnv env;
  Trace trace;
  trace.meta.action = ActionKind::kBox;
  EXPECT_EQ(ReplayTrace(env, trace, false).status().message(),
            "the trace has box actions; 'walk' takes discrete ones");
  EnvSpec spec = WalkSpec();
  spec.action = {ActionKind::kBox, 0, {0.0f}, {1.0f}};
  WalkEnv box(spec);
  trace.games.push_back({{1}, {1}, {}, 2});
  EXPECT_EQ(ReplayTrace(box, trace, false).status().message(),
            "the trace has games; 'walk' takes box actions");
}

}  // namespace
}  // namespace lzero::trace_replay_test
