// Exact resume: whatever checkpoint a run is continued from, it ends as if it had never stopped.
#include <filesystem>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/train/trainer.h"
#include "tests/train/trainer_testing.h"

namespace lzero::trainer_resume_test {
namespace {

using testing::HasSubstr;

// Evaluations every 15 updates, checkpoints every 10 and at every new best: some fall together.
TEST(TrainerResumeTest, EveryCheckpointOfADeterministicRun) { ExpectExactResume(TinyConfig(), 1); }

TEST(TrainerResumeTest, OverlappedRunsGiveTheSameWeights) {
  ExperimentConfig config = TinyConfig();
  config.deterministic = false;
  ExpectExactResume(config, 2);
}

// A run that ends between two evaluations, and is then given more steps.
TEST(TrainerResumeTest, AnExtendedRunLearnsWhatTheLongerRunLearns) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = deterministic;
    config.replay.reanalyze_ratio = 0.5;
    const int64_t whole = *config.stop.max_env_steps;
    TestRun straight(config);
    ASSERT_TRUE(straight.Run().ok());
    config.stop.max_env_steps = whole / 2;
    TestRun extended(config);
    const auto ended = extended.Run();
    ASSERT_TRUE(ended.ok() && ended->reason == StopReason::kLimit);
    config.stop.max_env_steps = whole;
    extended.set_config(config);
    ASSERT_TRUE(extended.Resume(extended.dir()).ok());
    SCOPED_TRACE(deterministic);
    ExpectSameBytes(extended.Latest().content.files, straight.Latest().content.files);
  }
}

TEST(TrainerResumeTest, PrioritizedReplayAndGumbel) {
  ExperimentConfig config = TinyConfig();
  config.replay.prioritized = true;
  config.replay.num_context_steps = 1;
  config.search.policy = SearchPolicy::kGumbel;
  config.search.q_transform = QTransform::kCompletedByMixValue;
  ExpectExactResume(config, 3);
}

TEST(TrainerResumeTest, SearchBootstrapAndMaskedTerminals) {
  ExperimentConfig config = TinyConfig();
  config.replay.value_bootstrap = ValueBootstrap::kSearch;
  config.replay.capacity = 120;  // so that old segments leave
  config.model.terminal = TerminalMode::kMask;
  config.train.learning_rate_schedule = LearningRateSchedule::kCosine;
  config.train.warmup_updates = 25;
  ExpectExactResume(config, 3);
}

TEST(TrainerResumeTest, GrowingCachesAndCarriedContexts) {
  ExperimentConfig config = TinyConfig();
  config.inference.cache_storage = CacheStorage::kGrowing;
  config.inference.root_context = RootContext::kCarry;
  config.search.num_simulations = 12;  // more nodes than growing storage begins with
  ExpectExactResume(config, 3);
}

TEST(TrainerResumeTest, Dropout) {
  ExperimentConfig config = TinyConfig();
  config.model.dropout = 0.2;
  ExpectExactResume(config, 3);
}

TEST(TrainerResumeTest, TwoPlayersWithRandomOpenings) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.env.random_opening_fraction = 0.5;
  ExpectExactResume(config, 3);
}

// A run of several updates a step may pass several evaluations and checkpoints at once.
TEST(TrainerResumeTest, ManyUpdatesAStep) {
  ExperimentConfig config = TinyConfig();
  config.train.updates_per_env_step = 4.0;
  config.evaluate.every_updates = 25;
  config.checkpoint.every_updates = 5;
  config.stop.max_env_steps = 48;
  ExpectExactResume(config, 2);
}

// Steps without an update continue cached contexts, which a resumed run has to rebuild.
TEST(TrainerResumeTest, FewUpdatesAStep) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = deterministic;
    config.train.updates_per_env_step = 0.1;
    config.train.log_every_updates = 2;
    config.evaluate.every_updates = 5;
    config.checkpoint.every_updates = 2;
    ExpectExactResume(config, 1);
  }
}

// Ctrl-C at the 60th step of the collector.
Probe StopAt(std::atomic<bool>* stop, int64_t num_steps) {
  return [=](ProbeStep& step) {
    if (!step.is_evaluator && step.num_steps == num_steps) *stop = true;
  };
}

TEST(TrainerResumeTest, AnInterruptedRunLeavesACheckpointAndGoesOn) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = ProbeConfig();
    config.deterministic = deterministic;
    TestRun run(config);
    run.set_probe(StopAt(&run.stop(), 60));
    const auto interrupted = run.Run();
    ASSERT_TRUE(interrupted.ok()) << interrupted.status();
    EXPECT_EQ(interrupted->reason, StopReason::kInterrupted);
    EXPECT_EQ(interrupted->state.env_steps, 60);
    EXPECT_EQ(run.Latest().env_steps, 60);
    EXPECT_EQ(ReadStatusFile(run.dir())->state, RunState::kInterrupted);

    run.stop() = false;
    run.set_probe({});
    const auto resumed = run.Resume(run.dir());
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_EQ(resumed->reason, StopReason::kLimit);
    EXPECT_EQ(resumed->state.updates, ExpectedUpdates(resumed->state.env_steps - 3, 30, 1, 2));
    double before = 0.0;
    for (const MetricsLine& line : run.Metrics()) {
      EXPECT_GE(*line.at("env_steps"), before);
      before = *line.at("env_steps");
    }
    EXPECT_EQ(before, static_cast<double>(resumed->state.env_steps));
  }
}

// Kill -9 at any step: what the run says of itself is not behind what it has saved.
TEST(TrainerResumeTest, TheStatusIsNotBehindTheCheckpoints) {
  TestRun run(ProbeConfig());
  int64_t num_seen = 0;
  run.set_probe([&](ProbeStep&) {
    const auto checkpoints = ListCheckpoints(run.dir());
    if (!checkpoints.ok() || checkpoints->empty()) return;
    ++num_seen;
    EXPECT_GE(ReadStatusFile(run.dir())->env_steps, checkpoints->back().env_steps);
  });
  ASSERT_TRUE(run.Run().ok());
  EXPECT_GT(num_seen, 0);
}

TEST(TrainerResumeTest, ARunThatIsStoppedBeforeItsFirstStepCanBeResumed) {
  const ExperimentConfig config = TinyConfig();
  TestRun run(config), straight(config);
  run.stop() = true;
  const auto interrupted = run.Run();
  ASSERT_TRUE(interrupted.ok()) << interrupted.status();
  EXPECT_EQ(interrupted->reason, StopReason::kInterrupted);
  EXPECT_EQ(interrupted->state.env_steps, 0);
  run.stop() = false;
  const auto resumed = run.Resume(run.dir());
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ASSERT_TRUE(straight.Run().ok());
  ExpectSameBytes(run.Latest().content.files, straight.Latest().content.files);
}

// When and with what return each evaluation was made.
std::vector<std::vector<double>> EvaluationsOf(const TestRun& run) {
  std::vector<std::vector<double>> evaluations;
  for (const MetricsLine& line : run.Metrics()) {
    if (!line.contains("eval/return_mean")) continue;
    evaluations.push_back(
        {*line.at("env_steps"), *line.at("updates"), *line.at("eval/return_mean")});
  }
  return evaluations;
}

// The stop comes while an evaluation is running. After the resume it is the first thing made, with
// the same weights: the run is as if it had never stopped. (There is an update at every step, so
// that no context outlives one.)
TEST(TrainerResumeTest, AnEvaluationThatIsInterruptedIsMadeFirstWithTheSameWeights) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = ProbeConfig();  // an evaluation takes 3 episodes of 6 steps
    config.deterministic = deterministic;
    TestRun straight(config);
    const auto expected = straight.Run();
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_GE(expected->state.evaluations, 2);
    // The last one is that of the end.
    for (int64_t interrupted_at = 0; interrupted_at <= expected->state.evaluations;
         ++interrupted_at) {
      TestRun run(config);
      run.set_probe([&run, interrupted_at](ProbeStep& step) {
        if (step.is_evaluator && step.num_steps == 18 * interrupted_at + 5) run.stop() = true;
      });
      const auto interrupted = run.Run();
      ASSERT_TRUE(interrupted.ok()) << interrupted.status();
      EXPECT_EQ(interrupted->reason, StopReason::kInterrupted);
      EXPECT_EQ(interrupted->state.evaluations, interrupted_at);
      run.stop() = false;
      run.set_probe({});
      const auto resumed = run.Resume(run.dir());
      ASSERT_TRUE(resumed.ok()) << resumed.status();
      EXPECT_EQ(EvaluationsOf(run), EvaluationsOf(straight)) << interrupted_at;
      ExpectSameEnd(run, straight, /*compare_metrics=*/false);
    }
  }
}

TEST(TrainerResumeTest, AStopDuringTheLastEvaluationInterruptsTheRun) {
  ExperimentConfig config = ProbeConfig();
  config.evaluate.every_updates = 0;  // only at the end
  TestRun run(config);
  run.set_probe([&run](ProbeStep& step) {
    if (!step.is_evaluator) return;
    absl::SleepFor(absl::Seconds(1));  // far longer than all before it
    run.stop() = true;
  });
  const auto interrupted = run.Run();
  ASSERT_TRUE(interrupted.ok()) << interrupted.status();
  EXPECT_EQ(interrupted->reason, StopReason::kInterrupted);
  EXPECT_FALSE(interrupted->state.last_return.has_value());
  EXPECT_GE(interrupted->state.wall_seconds, 1.0);  // its time counts
  run.stop() = false;
  run.set_probe({});
  const auto resumed = run.Resume(run.dir());
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->reason, StopReason::kLimit);
  EXPECT_TRUE(resumed->state.last_return.has_value());
  EXPECT_EQ(resumed->state.updates, interrupted->state.updates);
}

// Environments that cannot be saved begin new episodes; everything else goes on.
TEST(TrainerResumeTest, EnvironmentsThatCannotBeSaved) {
  ExperimentConfig config = ProbeConfig();
  config.env.id = "forgetful";
  TestRun run(config);
  run.set_probe(StopAt(&run.stop(), 60));
  ASSERT_TRUE(run.Run().ok());
  run.stop() = false;
  run.set_probe({});
  const auto resumed = run.Resume(run.dir());
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->state.updates, ExpectedUpdates(resumed->state.env_steps - 3, 30, 1, 2));
}

TEST(TrainerResumeTest, ShorterIntervalsCountFromTheCheckpoint) {
  ExperimentConfig config = TinyConfig();
  config.evaluate.every_updates = config.checkpoint.every_updates = 1000;
  config.stop.max_updates = 20;
  TestRun run(config);
  ASSERT_TRUE(run.Run().ok());
  const int64_t evaluations = CountIn(run.Latest().content, "evaluations");
  config.evaluate.every_updates = config.checkpoint.every_updates = 5;
  config.stop.max_updates = 38;
  run.set_config(config);
  ASSERT_TRUE(run.Resume(run.dir()).ok());
  // After 25, 30 and 35 updates.
  EXPECT_EQ(CountIn(run.Latest().content, "evaluations"), evaluations + 3);
}

TEST(TrainerResumeTest, AFinishedRunStaysFinished) {
  TestRun run(TinyConfig());
  const auto first = run.Run();
  ASSERT_TRUE(first.ok()) << first.status();
  const LoadedCheckpoint before = run.Latest();
  const std::string metrics = run.Read("metrics.jsonl");
  const auto again = run.Resume(run.dir());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->reason, StopReason::kLimit);
  EXPECT_EQ(again->state.updates, first->state.updates);
  EXPECT_EQ(again->state.evaluations, first->state.evaluations);
  ExpectSameBytes(run.Latest().content.files, before.content.files);
  EXPECT_EQ(run.Read("metrics.jsonl"), metrics);
}

absl::Status RestoreChanged(TestRun& run, const std::function<void(CheckpointContent&)>& change) {
  CheckpointContent content = run.Latest().content;
  change(content);
  return run.Make().value()->Restore(content);
}

TEST(TrainerResumeTest, WhatIsMissingOrDoesNotFitIsNamed) {
  ExperimentConfig config = TinyConfig();
  config.evaluate.every_updates = 0;
  TestRun run(config);
  ASSERT_TRUE(run.Run().ok());
  for (const char* file : {"replay", "collector", "model", "target", "optimizer"}) {
    const absl::Status status =
        RestoreChanged(run, [&](CheckpointContent& content) { content.files.erase(file); });
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(status.message(), std::string("the checkpoint has no ") + file + ".safetensors");
  }
  const absl::Status no_state =
      RestoreChanged(run, [](CheckpointContent& content) { content.state_json = "{}"; });
  EXPECT_THAT(std::string(no_state.message()), HasSubstr("state.json: env_steps is missing"));
  const absl::Status no_array =
      RestoreChanged(run, [](CheckpointContent& content) { content.files["replay"].pop_back(); });
  EXPECT_THAT(std::string(no_array.message()), HasSubstr("replay"));
}

// The first evaluation is the best one: 6, then less and less.
void PayLessAndLess(ProbeStep& step) {
  if (step.is_evaluator) step.reward = 1.0f / static_cast<float>(1 + (step.num_steps - 1) / 6);
}

ExperimentConfig BestFirstConfig() {
  ExperimentConfig config = ProbeConfig();
  config.env.num_evaluators = 1;
  config.evaluate.episodes = 1;
  return config;
}

// A kill between the checkpoint of the best evaluation and its mark.
TEST(TrainerResumeTest, AMarkOfTheBestThatIsMissingIsMadeAgain) {
  TestRun run(BestFirstConfig(), PayLessAndLess);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.best_return, 6.0);
  const std::string best = run.dir() + "/checkpoints/best";
  const auto marked = std::filesystem::read_symlink(best);
  const auto checkpoints = ListCheckpoints(run.dir()).value();
  ASSERT_LT(*outcome->state.best_env_steps, checkpoints.back().env_steps);
  ASSERT_TRUE(std::filesystem::remove(best));
  ASSERT_TRUE(run.Resume(run.dir()).ok());
  EXPECT_EQ(std::filesystem::read_symlink(best), marked);
  EXPECT_EQ(ReadCheckpoint(best)->env_steps, *outcome->state.best_env_steps);
}

TEST(TrainerResumeTest, ABestCheckpointThatIsGoneGivesItsPlaceToTheNextEvaluation) {
  TestRun run(BestFirstConfig(), PayLessAndLess);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const std::string best = run.dir() + "/checkpoints/best";
  std::filesystem::remove_all(std::filesystem::canonical(best));
  std::filesystem::remove(best);
  const auto checkpoints = ListCheckpoints(run.dir()).value();
  run.set_probe({});  // evaluations of 6 once more
  const auto resumed = run.Resume(checkpoints.at(checkpoints.size() - 3).path);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->state.best_return, 6.0);
  EXPECT_GT(*resumed->state.best_env_steps, *outcome->state.best_env_steps);
  EXPECT_EQ(ReadCheckpoint(best)->env_steps, *resumed->state.best_env_steps);
}

// A power cut may lose the end of metrics.jsonl: the checkpoint is intact, so the run goes on.
TEST(TrainerResumeTest, LostMetricsAreNoReasonToRefuseACheckpoint) {
  const ExperimentConfig config = TinyConfig();
  TestRun straight(config);
  ASSERT_TRUE(straight.Run().ok());
  const std::string all = straight.Read("metrics.jsonl");
  const auto checkpoints = ListCheckpoints(straight.dir()).value();
  const std::string step = std::filesystem::path(checkpoints.at(3).path).filename();
  const auto checkpoint = ReadCheckpoint(checkpoints.at(3).path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const int64_t bytes = CountIn(checkpoint->content, "metrics_bytes");
  for (const int64_t left : {int64_t{-1}, int64_t{0}, bytes / 2}) {  // -1: no file
    TestRun run(config);
    run.CopyFrom(straight);
    const std::string path = run.dir() + "/metrics.jsonl";
    std::filesystem::remove(path);
    if (left >= 0) {
      ASSERT_TRUE(WriteFileAtomic(path, all.substr(0, left)).ok());
    }
    const auto resumed = run.Resume(run.dir() + "/checkpoints/" + step);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    ExpectSameBytes(run.Latest().content.files, straight.Latest().content.files);
    const size_t kept = left <= 0 ? 0 : all.rfind('\n', left - 1) + 1;
    EXPECT_EQ(run.Read("metrics.jsonl"), all.substr(0, kept) + all.substr(bytes));
    EXPECT_EQ(CountIn(run.Latest().content, "metrics_bytes"),
              static_cast<int64_t>(kept + all.size()) - bytes);
  }
}

TEST(TrainerResumeTest, ACheckpointOfAnotherConfigIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.evaluate.every_updates = 0;
  TestRun run(config);
  ASSERT_TRUE(run.Run().ok());
  ExperimentConfig wider = config;
  wider.model.embed_dim = 16;
  const absl::Status other_model = TestRun(wider).Resume(run.dir()).status();
  EXPECT_EQ(other_model.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other_model.message()),
              HasSubstr("action_embedding: expected Float [2, 16], got Float [2, 8]"));
  ExperimentConfig more = config;
  more.env.num_collectors = 4;
  const absl::Status other_envs = TestRun(more).Resume(run.dir()).status();
  EXPECT_EQ(other_envs.code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lzero::trainer_resume_test
