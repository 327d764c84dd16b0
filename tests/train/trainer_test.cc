// The loop: how many updates for how many steps, what ends a run, and that it depends on config and
// seed alone.
#include "lzero/train/trainer.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <tuple>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/train/trainer_testing.h"

namespace lzero::trainer_test {
namespace {

using testing::HasSubstr;

TrainOutcome Finish(TestRun& run) {
  const auto outcome = run.Run();
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *outcome : TrainOutcome();
}

struct Ratio {
  int64_t numerator;
  int64_t denominator;
  int64_t start;
  int64_t max_env_steps;
};

class TrainerRatioTest : public testing::TestWithParam<bool> {};

TEST_P(TrainerRatioTest, UpdatesForEnvStepsAreExactButForThoseOfTheLastStep) {
  for (const Ratio& ratio : {Ratio{1, 4, 30, 100}, Ratio{5, 4, 0, 50}, Ratio{1, 3, 31, 80},
                             Ratio{7, 2, 40, 60}, Ratio{1, 2, 60, 61}, Ratio{29, 100, 2, 102}}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = GetParam();
    config.train.updates_per_env_step =
        static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator);
    config.train.start_env_steps = ratio.start;
    config.stop.max_env_steps = ratio.max_env_steps;
    config.evaluate.every_updates = 0;
    config.evaluate.episodes = 1;
    config.checkpoint.every_updates = 0;
    TestRun run(config);
    const TrainOutcome outcome = Finish(run);
    EXPECT_EQ(outcome.reason, StopReason::kLimit);
    EXPECT_GE(outcome.state.env_steps, ratio.max_env_steps);
    EXPECT_LT(outcome.state.env_steps, ratio.max_env_steps + config.env.num_collectors);
    EXPECT_EQ(outcome.state.updates, ExpectedUpdates(outcome.state.env_steps - 3, ratio.start,
                                                     ratio.numerator, ratio.denominator))
        << ratio.numerator << " / " << ratio.denominator;
    // Everything that was learned is in the checkpoint that the run leaves.
    EXPECT_EQ(CountIn(run.Latest().content, "updates"), outcome.state.updates);
  }
}

// Also on the way: a metrics line never shows more updates than were owed, and in turn never less.
TEST_P(TrainerRatioTest, UpdatesFollowTheStepsAllTheTime) {
  ExperimentConfig config = TinyConfig();
  config.deterministic = GetParam();
  config.train.log_every_updates = 1;
  TestRun run(config);
  Finish(run);
  int64_t num_lines = 0;
  for (const MetricsLine& line : run.Metrics()) {
    const auto env_steps = static_cast<int64_t>(*line.at("env_steps"));
    const auto updates = static_cast<int64_t>(*line.at("updates"));
    EXPECT_LE(updates, ExpectedUpdates(env_steps, 30, 1, 2));
    EXPECT_GE(updates, ExpectedUpdates(env_steps - config.env.num_collectors, 30, 1, 2));
    ++num_lines;
  }
  EXPECT_GT(num_lines, 20);
}

INSTANTIATE_TEST_SUITE_P(Modes, TrainerRatioTest, testing::Bool(), [](const auto& mode) {
  return mode.param ? "Deterministic" : "Overlapped";
});

// The first transitions cannot be sampled yet: their targets lie in the future. What they owe is
// made up for as soon as one can.
TEST(TrainerTest, UpdatesWaitForSomethingToLearnFrom) {
  ExperimentConfig config = TinyConfig();
  config.train.start_env_steps = 0;
  config.train.log_every_updates = 1;
  TestRun run(config);
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.state.updates, ExpectedUpdates(outcome.state.env_steps - 3, 0, 1, 2));
  // Targets reach 2 + 3 steps ahead, or to an earlier end.
  EXPECT_GE(*run.Metrics().at(0).at("env_steps"), 5 * config.env.num_collectors);
}

TEST(TrainerTest, ARunTooShortToLearnFromEnds) {
  ExperimentConfig config = TinyConfig();
  config.train.start_env_steps = 0;
  config.stop.max_env_steps = 6;
  TestRun run(config);
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.reason, StopReason::kLimit);
  EXPECT_EQ(outcome.state.updates, 0);
}

TEST(TrainerTest, ALimitOfUpdatesIsMetExactly) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = deterministic;
    config.train.updates_per_env_step = 2.0;  // several owed at once
    config.stop.max_env_steps = std::nullopt;
    config.stop.max_updates = 17;
    TestRun run(config);
    const TrainOutcome outcome = Finish(run);
    EXPECT_EQ(outcome.reason, StopReason::kLimit);
    EXPECT_EQ(outcome.state.updates, 17);
  }
}

TEST(TrainerTest, TheSameSeedGivesTheSameMetricsByteForByte) {
  ExperimentConfig config = TinyConfig();
  TestRun one(config), two(config);
  Finish(one);
  Finish(two);
  EXPECT_GT(one.Metrics().size(), 10u);
  EXPECT_EQ(one.Read("metrics.jsonl"), two.Read("metrics.jsonl"));
  ExpectSameBytes(two.Latest().content.files, one.Latest().content.files);
  config.seed = 6;
  TestRun other(config);
  Finish(other);
  EXPECT_NE(one.Read("metrics.jsonl"), other.Read("metrics.jsonl"));
}

TEST(TrainerTest, OverlappedRunsOfOneSeedEndWithTheSameWeights) {
  ExperimentConfig config = TinyConfig();
  config.deterministic = false;
  TestRun one(config), two(config);
  const TrainOutcome first = Finish(one), second = Finish(two);
  EXPECT_EQ(first.state.updates, second.state.updates);
  EXPECT_EQ(first.state.best_return, second.state.best_return);
  ExpectSameBytes(two.Latest().content.files, one.Latest().content.files);
  EXPECT_EQ(first.state.evaluations, second.state.evaluations);
}

// Updates at one step of about seven (ratio 0.05, three environments), so that contexts live over
// many steps; or at every step.
std::vector<ExperimentConfig> ConfigsWithLongContexts() {
  std::vector<ExperimentConfig> configs(3, TinyConfig());
  configs[0].train.updates_per_env_step = 0.05;
  configs[1].train.updates_per_env_step = 0.05;
  configs[1].inference.root_context = RootContext::kCarry;
  for (ExperimentConfig& config : configs) {
    config.search.num_simulations = 8;
    config.stop.max_env_steps = 300;
    config.checkpoint.every_updates = 0;
    config.evaluate.every_updates = 0;
  }
  return configs;
}

// Evaluation has its own environments, engine and cache: how often it runs changes nothing else,
// nor do the checkpoints of new best agents that it leads to.
TEST(TrainerTest, EvaluationDoesNotChangeWhatIsCollectedAndLearned) {
  for (ExperimentConfig config : ConfigsWithLongContexts()) {
    TestRun rarely(config);
    Finish(rarely);
    config.evaluate.every_updates = config.train.updates_per_env_step < 0.1 ? 1 : 7;
    TestRun often(config);
    Finish(often);
    EXPECT_LT(CountIn(rarely.Latest().content, "evaluations"),
              CountIn(often.Latest().content, "evaluations"));
    EXPECT_GT(ListCheckpoints(often.dir())->size(), 2u);
    ExpectSameBytes(often.Latest().content.files, rarely.Latest().content.files);
  }
}

TEST(TrainerTest, CheckpointsDoNotChangeWhatIsCollectedAndLearned) {
  for (ExperimentConfig config : ConfigsWithLongContexts()) {
    TestRun rarely(config);
    Finish(rarely);
    config.checkpoint.every_updates = 1;
    TestRun often(config);
    Finish(often);
    EXPECT_GT(ListCheckpoints(often.dir())->size(), ListCheckpoints(rarely.dir())->size() + 8);
    ExpectSameBytes(often.Latest().content.files, rarely.Latest().content.files);
  }
}

// The rate after warm-up when this fraction of the run is over.
double ScheduledRate(LearningRateSchedule schedule, double over) {
  if (schedule == LearningRateSchedule::kLinear) return 0.01 - 0.008 * over;
  if (schedule == LearningRateSchedule::kConstant) return 0.01;
  return 0.002 + 0.004 * (1.0 + std::cos(3.14159265358979 * over));
}

TEST(TrainerTest, TheLearningRateWarmsUpAndFollowsItsSchedule) {
  for (const auto schedule : {LearningRateSchedule::kConstant, LearningRateSchedule::kLinear,
                              LearningRateSchedule::kCosine}) {
    ExperimentConfig config = TinyConfig();
    config.train.updates_per_env_step = 1.0 / 3.0;  // one update a step of three environments
    config.train.log_every_updates = 1;
    config.train.learning_rate = 0.01;
    config.train.final_learning_rate = 0.002;
    config.train.learning_rate_schedule = schedule;
    config.train.warmup_updates = 4;
    config.evaluate.every_updates = 0;
    config.evaluate.episodes = 1;
    config.checkpoint.every_updates = 0;
    TestRun run(config);
    Finish(run);
    int64_t num_checked = 0;
    for (const MetricsLine& line : run.Metrics()) {
      if (!line.contains("train/learning_rate")) continue;
      const double updates = *line.at("updates"), env_steps = *line.at("env_steps");
      // An update is made before the three steps that its line counts.
      double expected = ScheduledRate(schedule, (env_steps - 3.0) / 120.0);
      if (updates <= 4.0) expected *= updates / 4.0;
      // The last line is a mean with the update after the last step.
      if (updates == 30.0) expected = 0.5 * (expected + ScheduledRate(schedule, 1.0));
      EXPECT_NEAR(*line.at("train/learning_rate"), expected, 1e-9) << "update " << updates;
      ++num_checked;
    }
    EXPECT_EQ(num_checked, 29);
  }
}

// Episodes of six steps that pay 1 each; evaluations of one episode by one environment.
ExperimentConfig TargetConfig() {
  ExperimentConfig config = ProbeConfig();
  config.env.num_evaluators = 1;
  config.evaluate.every_updates = 5;
  config.evaluate.episodes = 1;
  config.stop.target_return = 6.0;
  config.stop.patience = 2;
  return config;
}

TEST(TrainerTest, ARunEndsWhenItsTargetHolds) {
  TestRun run(TargetConfig());
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.reason, StopReason::kTargetReached);
  EXPECT_EQ(outcome.state.evaluations, 2);
  EXPECT_LT(outcome.state.env_steps, 120);
  EXPECT_EQ(outcome.state.solved_env_steps, outcome.state.env_steps);
  EXPECT_EQ(outcome.state.last_return, 6.0);
  EXPECT_TRUE(outcome.state.solved_wall_seconds.has_value());
}

TEST(TrainerTest, ARunThatReachedItsTargetStaysFinished) {
  TestRun run(TargetConfig());
  const TrainOutcome outcome = Finish(run);
  const auto files = ListDirectory(run.dir() + "/checkpoints").value();
  const std::string metrics = run.Read("metrics.jsonl");
  const auto again = run.Resume(run.dir());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->reason, StopReason::kTargetReached);
  EXPECT_EQ(again->state.env_steps, outcome.state.env_steps);
  EXPECT_EQ(again->state.evaluations, outcome.state.evaluations);
  EXPECT_EQ(ListDirectory(run.dir() + "/checkpoints").value(), files);
  EXPECT_EQ(run.Read("metrics.jsonl"), metrics);
  EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kFinished);
}

// More patience or another target, higher or lower, is another question; no target is none.
TEST(TrainerTest, ARunThatReachedItsTargetGoesOnToAnother) {
  using Case = std::tuple<std::optional<double>, int, int>;
  for (const auto& [target, patience, expected] :
       {Case{6.0, 3, 3}, Case{5.0, 2, 4}, Case{5.0, 1, 3}, Case{std::nullopt, 2, 8}}) {
    ExperimentConfig config = TargetConfig();
    TestRun run(config);
    const TrainOutcome outcome = Finish(run);
    config.stop.target_return = target;
    config.stop.patience = patience;
    run.set_config(config);
    const auto second = run.Resume(run.dir());
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(second->reason, target ? StopReason::kTargetReached : StopReason::kLimit);
    EXPECT_EQ(second->state.evaluations, expected) << target.value_or(0) << ", " << patience;
    EXPECT_EQ(second->state.solved_env_steps == outcome.state.solved_env_steps, target != 5.0);
  }
}

// Evaluation k (from 0) takes steps 6 k + 1 .. 6 k + 6 of the evaluator.
TEST(TrainerTest, PatienceCountsEvaluationsInARow) {
  TestRun run(TargetConfig(), [](ProbeStep& step) {
    if (step.is_evaluator && (step.num_steps - 1) / 6 == 1) step.reward = 0.5f;
  });
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.reason, StopReason::kTargetReached);
  EXPECT_EQ(outcome.state.evaluations, 4);  // 6, 3, 6, 6
  EXPECT_EQ(outcome.state.target_streak, 2);
}

TEST(TrainerTest, ATargetThatIsNeverReachedEndsAtTheLimit) {
  ExperimentConfig config = TargetConfig();
  config.stop.target_return = 6.5;
  TestRun run(config);
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.reason, StopReason::kLimit);
  EXPECT_FALSE(outcome.state.solved_env_steps.has_value());
  EXPECT_EQ(outcome.state.target_streak, 0);
}

TEST(TrainerTest, ARunMayGoOnPastItsTarget) {
  ExperimentConfig config = TargetConfig();
  config.stop.end_at_target = false;
  TestRun run(config);
  const TrainOutcome outcome = Finish(run);
  EXPECT_EQ(outcome.reason, StopReason::kLimit);
  EXPECT_GE(outcome.state.env_steps, 120);
  ASSERT_TRUE(outcome.state.solved_env_steps.has_value());
  // The second evaluation comes at ten updates, 20 steps past the start, and one barrier later.
  EXPECT_GE(*outcome.state.solved_env_steps, 50);
  EXPECT_LE(*outcome.state.solved_env_steps, 57);
  EXPECT_GT(outcome.state.evaluations, 5);
}

TEST(TrainerTest, WhatCannotBeBuiltIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "cartpoll";
  EXPECT_THAT(std::string(TestRun(config).Make().status().message()),
              HasSubstr("did you mean 'cartpole'"));
  config = TinyConfig();
  config.model.encoder = EncoderKind::kBoard;
  EXPECT_THAT(std::string(TestRun(config).Make().status().message()),
              HasSubstr("use encoder: vector"));
  config = TinyConfig();
  config.replay.capacity = 5;
  EXPECT_EQ(TestRun(config).Make().status().code(), absl::StatusCode::kInvalidArgument);
  config = TinyConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.stop.target_return = 0.5;
  EXPECT_EQ(TestRun(config).Make().status().message(),
            "stop.target_return: got 0.5, but tictactoe is a game for two players: the return of "
            "self-play says nothing about strength; allowed: null, with stop.max_env_steps or "
            "stop.max_updates");
}

TEST(TrainerTest, NothingIsWrittenBeforeTheRun) {
  TestRun run(TinyConfig());
  ASSERT_TRUE(run.Make().ok());
  EXPECT_FALSE(FileExists(run.dir() + "/status.json"));
  EXPECT_FALSE(FileExists(run.dir() + "/checkpoints"));
}

// Wherever it runs out: in the learner's thread or the collector's, or where environments step.
TEST(TrainerTest, MemoryThatRunsOutFailsTheRun) {
  for (const auto& [deterministic, env_threads] :
       {std::pair(true, 1), std::pair(false, 1), std::pair(true, 2), std::pair(false, 2)}) {
    ExperimentConfig config = ProbeConfig();
    config.deterministic = deterministic;
    config.env.num_threads = env_threads;
    std::unique_ptr<char[]> kept;  // or the compiler would leave the request out
    TestRun run(config, [&kept](ProbeStep& step) {
      if (step.num_steps == 70) kept = std::make_unique<char[]>(size_t{1} << 60);
    });
    EXPECT_EQ(run.Run().status(), absl::ResourceExhaustedError("out of memory"));
    EXPECT_THAT(run.Read("status.json"), HasSubstr("\"state\": \"failed\""));
    EXPECT_THAT(run.Read("status.json"), HasSubstr("\"message\": \"out of memory\""));
  }
}

// The first two steps of the collector wait for each other: with one thread they would time out.
TEST(TrainerTest, ThreadsThatStepEnvironmentsChangeNothing) {
  ExperimentConfig config = ProbeConfig();
  config.deterministic = true;
  ASSERT_GE(config.env.num_collectors, 2);
  TestRun alone(config);
  Finish(alone);
  config.env.num_threads = 2;
  std::atomic<int> arrived = 0;
  std::atomic<bool> met = true;
  TestRun together(config, [&](ProbeStep& step) {
    if (step.is_evaluator || step.num_steps > 2) return;
    ++arrived;
    const auto start = std::chrono::steady_clock::now();
    while (arrived < 2 && met) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(30)) met = false;
    }
  });
  Finish(together);
  EXPECT_TRUE(met);
  EXPECT_EQ(together.Metrics(), alone.Metrics());
  const char* const weights = "checkpoints/latest/model.safetensors";
  EXPECT_EQ(together.Read(weights), alone.Read(weights));
}

TEST(TrainerTest, ARunThatThisMachineCannotHoldIsRefused) {
  ExperimentConfig config = ProbeConfig();
  config.model.embed_dim = 65536;
  config.model.num_layers = 256;
  TestRun run(config);
  EXPECT_TRUE(absl::IsResourceExhausted(run.Make().status()));
}

}  // namespace
}  // namespace lzero::trainer_test
