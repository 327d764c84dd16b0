// What a run leaves behind: checkpoints, the best one, evaluations, metrics, status; and what it
// keeps of an update that went wrong.
#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/dump.h"
#include "lzero/run/metric_guide.h"
#include "lzero/train/trainer.h"
#include "nlohmann/json.hpp"
#include "tests/train/trainer_testing.h"

namespace lzero::trainer_outputs_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

TEST(TrainerOutputsTest, TheLastCheckpointHoldsTheEndOfTheRun) {
  // Every step writes a checkpoint, the last one before the last updates are made.
  for (const int64_t checkpoint_every : {0, 1, 10}) {
    ExperimentConfig config = TinyConfig();
    config.checkpoint.every_updates = checkpoint_every;
    TestRun run(config);
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const LoadedCheckpoint latest = run.Latest();
    EXPECT_EQ(latest.env_steps, outcome->state.env_steps);
    EXPECT_EQ(CountIn(latest.content, "updates"), outcome->state.updates);
    EXPECT_EQ(CountIn(latest.content, "evaluations"), outcome->state.evaluations);
    EXPECT_EQ(CountIn(latest.content, "metrics_bytes"),
              static_cast<int64_t>(run.Read("metrics.jsonl").size()));
    EXPECT_EQ(latest.content.config_yaml, ResolvedYaml(config));
    std::set<std::string> files;
    for (const auto& [name, arrays] : latest.content.files) files.insert(name);
    EXPECT_EQ(files, std::set<std::string>(
                         {"model", "target", "optimizer", "replay", "collector", "contexts"}));
  }
}

TEST(TrainerOutputsTest, BestIsTheCheckpointOfTheBestEvaluation) {
  // Returns of the evaluations: 1, 3, 2, 3, 2, ... (steps 6 k + 1 .. 6 k + 6 are evaluation k).
  ExperimentConfig config = ProbeConfig();
  config.env.num_evaluators = 1;
  config.evaluate.every_updates = 5;
  config.evaluate.episodes = 1;
  config.checkpoint.every_updates = 0;
  TestRun run(config, [](ProbeStep& step) {
    if (!step.is_evaluator) return;
    const int64_t evaluation = (step.num_steps - 1) / 6;
    const float episode_return = evaluation == 0 ? 1.0f : (evaluation % 2 == 1 ? 3.0f : 2.0f);
    step.reward = (step.num_steps - 1) % 6 == 0 ? episode_return : 0.0f;
  });
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.best_return, 3.0);
  std::vector<double> returns;
  std::vector<int64_t> env_steps;
  for (const MetricsLine& line : run.Metrics()) {
    if (!line.contains("eval/return_mean")) continue;
    returns.push_back(*line.at("eval/return_mean"));
    env_steps.push_back(static_cast<int64_t>(*line.at("env_steps")));
  }
  ASSERT_GE(returns.size(), 5u);
  // Those that were due, and one at the end.
  EXPECT_EQ(static_cast<int64_t>(returns.size()), outcome->state.evaluations + 1);
  EXPECT_EQ(returns[0], 1.0);
  EXPECT_EQ(returns[1], 3.0);
  EXPECT_EQ(returns[2], 2.0);
  const auto best = ReadCheckpoint(run.dir() + "/checkpoints/best");
  ASSERT_TRUE(best.ok()) << best.status();
  // The newest of equal ones is the best.
  const auto newest_three = std::find(returns.rbegin(), returns.rend(), 3.0);
  EXPECT_EQ(best->env_steps, env_steps[returns.rend() - newest_three - 1]);
  EXPECT_GT(best->env_steps, env_steps[1]);
  EXPECT_EQ(TimelessState(best->content)["best_return"], "3.0");
  for (const int64_t step : env_steps) {
    const std::string folder = absl::StrCat("eval/step_", absl::Dec(step, absl::kZeroPad9));
    EXPECT_EQ(Json::parse(run.Read(folder + "/summary.json"))["env_steps"], step);
    EXPECT_THAT(run.Read(folder + "/episodes.csv"), HasSubstr("episode,seed,return"));
  }
}

// Perfect play of both sides scores 0, and a bad agent may lose to itself by more or by less: the
// first evaluation, whatever it gave, must not stay `best`.
TEST(TrainerOutputsTest, BestOfAGameForTwoPlayersIsTheNewestEvaluation) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.checkpoint.keep = 1;
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->num_players, 2);
  EXPECT_FALSE(outcome->state.best_return.has_value());
  ASSERT_TRUE(outcome->state.last_return.has_value());
  EXPECT_GE(outcome->state.evaluations, 2);
  EXPECT_EQ(outcome->state.best_env_steps, outcome->state.last_return_env_steps);
  const auto best = ReadCheckpoint(run.dir() + "/checkpoints/best");
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->env_steps, *outcome->state.last_return_env_steps);
  EXPECT_EQ(CountIn(best->content, "evaluations"), outcome->state.evaluations);
}

// What follows the best evaluation must not take the place of its weights, at the very end neither.
TEST(TrainerOutputsTest, BestKeepsItsWeightsAtTheEndOfTheRun) {
  for (const int64_t start : {30, 111}) {
    ExperimentConfig config = ProbeConfig();
    config.env.num_evaluators = 1;
    config.train.start_env_steps = start;
    config.evaluate.every_updates = 1;
    config.evaluate.episodes = 1;
    TestRun run(config, [](ProbeStep& step) {  // every evaluation is worse than the one before
      if (step.is_evaluator) step.reward = -static_cast<float>((step.num_steps - 1) / 6);
    });
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const auto best = ReadCheckpoint(run.dir() + "/checkpoints/best");
    ASSERT_TRUE(best.ok()) << best.status();
    EXPECT_EQ(CountIn(best->content, "evaluations"), 1) << "start at " << start;
    EXPECT_EQ(CountIn(best->content, "updates"), CountIn(best->content, "last_evaluation_update"));
  }
}

TEST(TrainerOutputsTest, MetricsHaveTheNamesOfTheDesign) {
  for (const bool deterministic : {true, false}) {
    ExperimentConfig config = TinyConfig();
    config.deterministic = deterministic;
    config.replay.reanalyze_ratio = 0.5;
    config.search.epsilon = 0.1;
    TestRun run(config);
    ASSERT_TRUE(run.Run().ok());
    std::set<std::string> names;
    for (const MetricsLine& line : run.Metrics()) {
      for (const auto& [name, value] : line) names.insert(name);
    }
    for (const char* name : {"env_steps",         "updates",           "collect/return_mean",
                             "eval/return_mean",  "loss/total",        "loss/policy",
                             "loss/value",        "loss/reward",       "loss/latent",
                             "search/root_value", "search/depth_mean", "search/entropy",
                             "replay/size",       "replay/age",        "replay/reuse",
                             "grad/norm",         "cache/mebibytes",   "collect/value_error",
                             "value/error",       "latent/norm",       "latent/spread",
                             "eval/value_bias",   "eval/value_error",  "eval/value_correlation"}) {
      EXPECT_TRUE(names.contains(name)) << name;
    }
    EXPECT_TRUE(names.contains("calibration/value_1") && names.contains("calibration/return_1"));
    for (const std::string& name : names) EXPECT_TRUE(IsExplainedMetric(name)) << name;
    for (const char* name : {"time/env_steps_per_s", "time/updates_per_s", "time/sims_per_s",
                             "time/share_env", "time/share_network", "time/share_learn"}) {
      EXPECT_EQ(names.contains(name), !deterministic) << name;
    }
  }
}

// A checkpoint writes what is due since the last line: at the same step there are no rates.
TEST(TrainerOutputsTest, NoLineSaysThatNothingWasDone) {
  ExperimentConfig config = TinyConfig();
  config.deterministic = false;
  config.train.log_every_updates = 1;
  config.checkpoint.every_updates = 1;
  TestRun run(config);
  ASSERT_TRUE(run.Run().ok());
  int num_with_rates = 0, num_without = 0;
  for (const MetricsLine& line : run.Metrics()) {
    if (!line.contains("time/env_steps_per_s")) {
      ++num_without;
      continue;
    }
    ++num_with_rates;
    EXPECT_GT(*line.at("time/env_steps_per_s") + *line.at("time/updates_per_s"), 0.0);
  }
  EXPECT_GT(num_with_rates, 10);
  EXPECT_GT(num_without, 10);
}

TEST(TrainerOutputsTest, TheStatusFollowsTheRun) {
  const ExperimentConfig config = ProbeConfig();
  TestRun run(config);
  RunState seen = RunState::kFailed;
  run.set_probe([&](ProbeStep& step) {
    if (step.num_steps == 5) seen = ReadStatusFile(run.dir())->state;
  });
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(seen, RunState::kRunning);
  const auto status = ReadStatusFile(run.dir());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->state, RunState::kFinished);
  EXPECT_EQ(status->env_steps, outcome->state.env_steps);
  EXPECT_EQ(status->updates, outcome->state.updates);
  EXPECT_EQ(status->eval_return, outcome->state.last_return);
  EXPECT_EQ(status->eval_env_steps, outcome->state.env_steps);  // the run ends with an evaluation
  EXPECT_FALSE(status->eta_seconds.has_value());
  EXPECT_EQ(status->message, "");
}

// Steps like the environment inside until one step fails.
class FailingEnv : public Env {
 public:
  FailingEnv(std::unique_ptr<Env> inner, int64_t num_steps)
      : inner_(std::move(inner)), spec_(inner_->spec()), num_left_(num_steps) {
    spec_.id = "failing";
  }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t seed) override { return inner_->Reset(seed); }
  absl::StatusOr<TimeStep> Step(const Action& action) override {
    if (num_left_-- == 0) return absl::InternalError("the motor is stuck");
    return inner_->Step(action);
  }
  absl::StatusOr<std::string> Save() const override { return inner_->Save(); }

 private:
  std::unique_ptr<Env> inner_;
  EnvSpec spec_;
  int64_t num_left_;
};

TEST(TrainerOutputsTest, AnEnvironmentThatFailsEndsTheRunWithItsName) {
  for (const bool deterministic : {true, false}) {
    const TestFolder folder;
    ExperimentConfig config = ProbeConfig();
    config.env.id = "failing";
    config.deterministic = deterministic;
    const EnvRegistry inner = ProbeRegistry(config);
    EnvRegistry registry;
    registry.Register({"failing", "for tests",
                       [&](const EnvOptions& options) -> absl::StatusOr<std::unique_ptr<Env>> {
                         return std::make_unique<FailingEnv>(inner.Make("probe", options).value(),
                                                             25);
                       }});
    auto outputs = RunOutputs::Create(folder.path(), 2).value();
    auto trainer = Trainer::Create(config, registry, nullptr);
    ASSERT_TRUE(trainer.ok()) << trainer.status();
    (*trainer)->WriteTo(std::move(outputs));
    const auto outcome = (*trainer)->Run();
    EXPECT_EQ(outcome.status().code(), absl::StatusCode::kInternal);
    EXPECT_EQ(outcome.status().message(), "environment 0: the motor is stuck");
    const auto status = ReadStatusFile(folder.path());
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->state, RunState::kFailed);
    EXPECT_EQ(status->message, "environment 0: the motor is stuck");
    EXPECT_EQ(status->env_steps, 75);
  }
}

}  // namespace
}  // namespace lzero::trainer_outputs_test
