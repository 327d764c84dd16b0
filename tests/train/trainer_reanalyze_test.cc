// A run that searches stored positions again: how many, with which weights, and that config and
// seed alone decide, whatever it is resumed from.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/train/trainer.h"
#include "tests/train/trainer_testing.h"

namespace lzero::trainer_reanalyze_test {
namespace {

ExperimentConfig ReanalyzeConfig(double ratio) {
  ExperimentConfig config = TinyConfig();
  config.replay.reanalyze_ratio = ratio;
  return config;
}

TrainOutcome Finish(TestRun& run) {
  const auto outcome = run.Run();
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? *outcome : TrainOutcome();
}

struct Ratio {
  int64_t numerator;
  int64_t denominator;
  int64_t start;
};

// Searched together: those that three steps are owed, three at least.
int64_t BatchOf(const Ratio& ratio) {
  return std::max<int64_t>(3, 3 * ratio.numerator / ratio.denominator);
}

// Positions due after so many steps, in whole batches; none before the first update.
int64_t ExpectedReanalyses(int64_t env_steps, const Ratio& ratio) {
  if (env_steps <= ratio.start) return 0;
  const int64_t batch = BatchOf(ratio);
  return (env_steps - ratio.start) * ratio.numerator / ratio.denominator / batch * batch;
}

class TrainerReanalyzeTest : public testing::TestWithParam<bool> {};

TEST_P(TrainerReanalyzeTest, TheRatioIsExactAllTheTime) {
  for (const Ratio& ratio :
       {Ratio{1, 1, 30}, Ratio{1, 8, 30}, Ratio{29, 100, 2}, Ratio{9, 2, 40}}) {
    ExperimentConfig config = ReanalyzeConfig(static_cast<double>(ratio.numerator) /
                                              static_cast<double>(ratio.denominator));
    config.deterministic = GetParam();
    config.train.start_env_steps = ratio.start;
    config.train.log_every_updates = 1;
    config.stop.max_env_steps = 102;
    TestRun run(config);
    const TrainOutcome outcome = Finish(run);
    int64_t num_lines = 0;
    for (const MetricsLine& line : run.Metrics()) {
      if (!line.contains("reanalyze/positions")) continue;  // of an evaluation
      // Beside the last step of the collector, what was due before it was made.
      const auto env_steps = static_cast<int64_t>(*line.at("env_steps"));
      EXPECT_EQ(static_cast<int64_t>(*line.at("reanalyze/positions")),
                ExpectedReanalyses(env_steps - 3, ratio))
          << env_steps << " steps, " << ratio.numerator << " / " << ratio.denominator;
      ++num_lines;
    }
    EXPECT_GT(num_lines, 10);
    EXPECT_EQ(outcome.state.env_steps, 102);
    EXPECT_EQ(outcome.state.tasks[0].reanalyzed, ExpectedReanalyses(99, ratio));
    EXPECT_EQ(outcome.state.tasks[0].reanalyze_searches * BatchOf(ratio),
              static_cast<uint64_t>(outcome.state.tasks[0].reanalyzed));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, TrainerReanalyzeTest, testing::Bool(), [](const auto& mode) {
  return mode.param ? "Deterministic" : "Overlapped";
});

TEST(TrainerReanalyzeRunTest, TheSameSeedGivesTheSameMetricsByteForByte) {
  TestRun first(ReanalyzeConfig(1.5)), second(ReanalyzeConfig(1.5)), without(ReanalyzeConfig(0.0));
  for (TestRun* run : {&first, &second, &without}) Finish(*run);
  EXPECT_EQ(first.Read("metrics.jsonl"), second.Read("metrics.jsonl"));
  const MetricsLine last = first.Metrics().back();
  for (const char* name :
       {"positions", "share_of_stored", "value_change", "policy_change", "age"}) {
    const auto found = last.find(std::string("reanalyze/") + name);
    ASSERT_NE(found, last.end()) << name;
    EXPECT_GT(*found->second, 0.0) << name;
  }
  EXPECT_LT(*last.at("reanalyze/policy_change"), 1.0);
  EXPECT_LT(*last.at("reanalyze/age"), 120.0);
  for (const auto& [name, value] : without.Metrics().back()) {
    EXPECT_FALSE(name.starts_with("reanalyze/")) << name;
  }
  const auto weights = [](const TestRun& run) {
    return BytesOf({{"model", run.Latest().content.files.at("model")}});
  };
  EXPECT_NE(weights(first), weights(without));
}

TEST(TrainerReanalyzeRunTest, OverlappedRunsOfOneSeedEndWithTheSameWeights) {
  ExperimentConfig config = ReanalyzeConfig(2.0);
  config.deterministic = false;
  config.train.updates_per_env_step = 2.0;
  TestRun first(config), second(config);
  Finish(first);
  Finish(second);
  ExpectSameBytes(first.Latest().content.files, second.Latest().content.files);
  EXPECT_EQ(TimelessState(first.Latest().content).at("reanalyzer_position"),
            TimelessState(second.Latest().content).at("reanalyzer_position"));
  bool has_share = false;
  for (const MetricsLine& line : first.Metrics()) {
    const auto share = line.find("time/share_reanalyze");
    has_share |= share != line.end() && *share->second > 0.0;
  }
  EXPECT_TRUE(has_share);
}

// The first batch is searched after twelve updates, at positions that were all collected before any
// of them: only a network that has not moved finds the values that are stored.
TEST(TrainerReanalyzeRunTest, TheTargetNetworkSearches) {
  for (const bool moves : {false, true}) {
    ExperimentConfig config = ReanalyzeConfig(1.0);
    config.search.root_noise_fraction = 0.0;
    config.train.start_env_steps = 60;
    config.train.updates_per_env_step = 4.0;
    config.train.target_update_rate = moves ? 1.0 : 1e-12;
    config.train.learning_rate = 0.01;
    config.stop.max_env_steps = 66;
    TestRun run(config);
    EXPECT_EQ(Finish(run).state.tasks[0].reanalyzed, 3);
    double value_change = -1.0;
    for (const MetricsLine& line : run.Metrics()) {
      if (line.contains("reanalyze/value_change"))
        value_change = *line.at("reanalyze/value_change");
    }
    if (moves) {
      EXPECT_GT(value_change, 1e-3);
    } else {
      EXPECT_NEAR(value_change, 0.0, 1e-5);
    }
  }
}

// Runs to the end, then again from checkpoints on the way.
void ExpectExactResume(const ExperimentConfig& config) {
  TestRun straight(config);
  const TrainOutcome outcome = Finish(straight);
  const auto checkpoints = ListCheckpoints(straight.dir());
  ASSERT_TRUE(checkpoints.ok()) << checkpoints.status();
  ASSERT_GE(checkpoints->size(), 4u);
  for (size_t i = 1; i + 1 < checkpoints->size(); i += 2) {
    const std::string step = std::filesystem::path(checkpoints->at(i).path).filename();
    SCOPED_TRACE("resumed from " + step);
    TestRun resumed(config);
    resumed.CopyFrom(straight);
    const auto second = resumed.Resume(resumed.dir() + "/checkpoints/" + step);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(second->state.tasks[0].reanalyzed, outcome.state.tasks[0].reanalyzed);
    const LoadedCheckpoint got = resumed.Latest(), expected = straight.Latest();
    ExpectSameBytes(got.content.files, expected.content.files);
    auto state = TimelessState(got.content), expected_state = TimelessState(expected.content);
    if (config.deterministic) {
      EXPECT_EQ(resumed.Read("metrics.jsonl"), straight.Read("metrics.jsonl"));
    } else {  // their lines hold times
      state.erase("metrics_bytes");
      expected_state.erase("metrics_bytes");
    }
    EXPECT_EQ(state, expected_state);
  }
}

// While replay fills, the ratio follows what is stored: by hand, in rounds of three steps, each
// counted with what was stored before it.
TEST(TrainerReanalyzeRunTest, AShareOfFreshSearchesIsKept) {
  ExperimentConfig config = ReanalyzeConfig(0.0);
  config.replay.fresh_share = 0.6;
  config.replay.fresh_updates = 60;
  config.train.start_env_steps = 60;
  config.train.updates_per_env_step = 1.0;
  config.train.batch_size = 32;
  config.train.log_every_updates = 1;
  config.stop.max_env_steps = 600;
  TestRun run(config);
  const TrainOutcome outcome = Finish(run);
  double due = 0.0, share = 0.0;
  for (int64_t stored = 60; stored < 600; stored += 3) {
    due +=
        3.0 * -std::log(0.4) * static_cast<double>(std::min(stored, config.replay.capacity)) / 60;
  }
  EXPECT_NEAR(outcome.state.tasks[0].reanalyses_due, due, 0.02 * due);
  int num_late = 0;
  for (const MetricsLine& line : run.Metrics()) {
    const auto found = line.find("replay/fresh_share");
    if (found == line.end() || *line.at("updates") < 240) continue;
    share += *found->second;
    ++num_late;
  }
  // Those just collected are fresh as well.
  EXPECT_GT(share / num_late, 0.57);
  EXPECT_LT(share / num_late, 0.72);
}

TEST(TrainerReanalyzeRunTest, ResumeIsExact) { ExpectExactResume(ReanalyzeConfig(1.0)); }

TEST(TrainerReanalyzeRunTest, ResumeIsExactOverlapped) {
  ExperimentConfig config = ReanalyzeConfig(0.7);
  config.deterministic = false;
  ExpectExactResume(config);
}

TEST(TrainerReanalyzeRunTest, ResumeIsExactWhileOldSegmentsLeave) {
  ExperimentConfig config = ReanalyzeConfig(1.3);
  config.replay.value_bootstrap = ValueBootstrap::kSearch;
  config.replay.capacity = 90;
  config.replay.prioritized = true;
  ExpectExactResume(config);
}

TEST(TrainerReanalyzeRunTest, ResumeIsExactWithBoxActionsFreshSearchesAndABonus) {
  ExperimentConfig config = ReanalyzeConfig(0.0);
  config.replay.fresh_share = 0.5;
  config.replay.fresh_updates = 20;
  config.env.count_bonus = 0.1;
  config.env.id = "pendulum";
  config.search.num_sampled_actions = 3;
  ExpectExactResume(config);
}

// Everything that is kept beside weights and steps: statistics, annealed targets, what came since
// the last reset, the tail.
TEST(TrainerReanalyzeRunTest, ResumeIsExactWithResetsAndATail) {
  ExperimentConfig config = ReanalyzeConfig(2.0);
  config.model.normalize_observations = true;
  config.replay.prioritized = true;
  config.replay.initial_priority = InitialPriority::kOwnError;
  config.replay.priority_error = PriorityError::kFirst;
  config.replay.td_decay_updates = 10;
  config.replay.td_steps_final = 1;
  config.replay.root_value_share = 1.0;
  config.replay.root_value_min_age = 40;
  config.replay.bootstrap_context_steps = 3;
  config.train.reset_every_updates = 14;
  config.train.tail_updates = 20;
  ExpectExactResume(config);
}

// What was being searched when an update went wrong is forgotten.
TEST(TrainerReanalyzeRunTest, ARollBackGoesOn) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = ProbeConfig();
    config.deterministic = deterministic;
    config.replay.reanalyze_ratio = 1.0;
    config.train.on_nan = OnNan::kRollback;
    config.train.batch_size = 64;
    config.checkpoint.every_updates = 12;
    config.evaluate.every_updates = 0;
    // A few steps after the checkpoint of update 12; the environments recover.
    TestRun run(config, [](ProbeStep& step) {
      if (step.is_evaluator || step.num_steps < 61 || step.num_steps > 63) return;
      step.reward = std::numeric_limits<float>::quiet_NaN();
    });
    const TrainOutcome outcome = Finish(run);
    int num_bad = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run.dir())) {
      num_bad += entry.path().filename().string().starts_with("bad_update_");
    }
    EXPECT_EQ(num_bad, 1);
    EXPECT_EQ(outcome.state.env_steps, 120);
    EXPECT_EQ(outcome.state.tasks[0].reanalyzed, ExpectedReanalyses(117, {1, 1, 30}));
  }
}

// After 102 steps the updates of the last step are made, too, and those of the tail: 40 at half an
// update a step are time for 80 steps.
TEST(TrainerReanalyzeRunTest, ATailOfUpdatesFollowsTheLastStep) {
  ExperimentConfig config = TinyConfig();
  config.train.start_env_steps = 30;
  config.train.updates_per_env_step = 0.5;
  config.train.tail_updates = 40;
  config.replay.reanalyze_ratio = 1.0;
  config.stop.max_env_steps = 102;
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.env_steps, 102);
  EXPECT_EQ(outcome->state.tasks[0].tail_steps, 80);
  // Beside the last of the 81 steps of three environments, what was due before it was made.
  EXPECT_EQ(outcome->state.updates, (102 + 78 - 30) / 2);
  EXPECT_EQ(outcome->state.tasks[0].reanalyzed, 102 + 78 - 30);
}

}  // namespace
}  // namespace lzero::trainer_reanalyze_test
