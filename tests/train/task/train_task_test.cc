// One task without a trainer: what a round collects, and what is owed for it.
#include "lzero/train/task/train_task.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/train/trainer_testing.h"

namespace lzero::train_task_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct Made {
  explicit Made(const ExperimentConfig& config, bool is_only_task = true)
      : registry(ProbeRegistry(config)), pool(1) {
    spec = BuildEnvSpec(config, registry).value();
    learner = Learner::Create(config, BuildWorldModelShape(spec)).value();
    task = TrainTask::Create(config, spec, registry, is_only_task, &pool).value();
    EXPECT_TRUE(task->HandBack(learner->model()).ok());
  }
  void Round() {
    ASSERT_TRUE(task->PrepareReanalyze([&]() -> const Network& { return learner->target(); }).ok());
    ASSERT_TRUE(task->CollectAndReanalyze().ok());
    ASSERT_TRUE(task->StoreCollected().ok());
  }
  EnvRegistry registry;
  ThreadPool pool;
  EnvSpec spec;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<TrainTask> task;
};

TEST(TrainTaskTest, ARoundMakesItsStepsUpToTheLimit) {
  ExperimentConfig config = ProbeConfig();  // 3 environments
  config.train.steps_per_round = 4;
  config.stop.max_env_steps = 20;
  Made made(config);
  std::vector<int64_t> steps;
  for (int round = 0; round < 3; ++round) {
    made.Round();
    steps.push_back(made.task->state().env_steps);
  }
  EXPECT_THAT(steps, ElementsAre(12, 21, 21));
  EXPECT_TRUE(made.task->HasReachedLimit());
  EXPECT_EQ(made.task->FractionOver(), 21.0 / 20.0);
}

TEST(TrainTaskTest, UpdatesAreOwedByTheRatioAndServedOneByOne) {
  ExperimentConfig config = ProbeConfig();  // 0.5 updates a step after 30
  Made made(config);
  for (int round = 0; round < 13; ++round) made.Round();
  EXPECT_EQ(made.task->state().env_steps, 39);
  EXPECT_EQ(made.task->UpdatesOwed(), 4);
  const auto batch = made.task->NextBatch(0, /*another_follows=*/true);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->batch->num_samples, config.train.batch_size);
  made.task->EndUpdate();
  EXPECT_EQ(made.task->UpdatesOwed(), 3);
  EXPECT_EQ(made.task->state().updates, 1);
  made.task->DiscardBatches();
}

TEST(TrainTaskTest, ATaskThatIsOnlyEvaluatedMakesNoSteps) {
  Made made(ProbeConfig());
  made.task->OnlyEvaluate();
  made.Round();
  EXPECT_EQ(made.task->state().env_steps, 0);
  EXPECT_TRUE(made.task->HasReachedLimit());
  EXPECT_EQ(made.task->FractionOver(), std::nullopt);
  const auto episodes = made.task->Evaluate(made.learner->model(), 0, {});
  ASSERT_TRUE(episodes.ok()) << episodes.status();
  EXPECT_EQ(episodes->episodes.size(), 3u);
}

TEST(TrainTaskTest, EvaluationsAreCountedUntilItIsSolved) {
  ExperimentConfig config = ProbeConfig();
  config.name = "probe";
  config.stop.target_return = 5.0;
  config.stop.patience = 2;
  config.score = {ScoreMeasure::kReturn, 0.0, 8.0};
  Made made(config);
  std::vector<bool> solved;
  for (const double mean : {6.0, 4.0, 5.0, 7.0, 6.0}) {
    const TaskEvaluation evaluation = {{{.episode_return = mean}}, std::nullopt};
    solved.push_back(made.task->CountEvaluation(evaluation, 12.0));
  }
  EXPECT_THAT(solved, ElementsAre(false, false, false, true, false));
  EXPECT_TRUE(made.task->HasReachedTarget());
  EXPECT_EQ(made.task->state().best_return, 7.0);
  EXPECT_EQ(made.task->state().last_return, 6.0);
  EXPECT_EQ(made.task->Score().score, 0.75);
}

TEST(TrainTaskTest, AGradeIsTheShareOfOptimalMoves) {
  ExperimentConfig config = BoardConfig();
  config.search.num_simulations = 1;
  config.score = {ScoreMeasure::kGrade, 0.5, 1.0};
  Made made(config);
  const auto evaluation = made.task->Evaluate(made.learner->model(), 0, {});
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  ASSERT_TRUE(evaluation->grade.has_value());
  const double num_optimal = *evaluation->grade * 4520;  // of so many positions
  EXPECT_NEAR(num_optimal, std::round(num_optimal), 1e-6);
  EXPECT_GT(*evaluation->grade, 0.2);
  EXPECT_LT(*evaluation->grade, 1.0);
  made.task->CountEvaluation(*evaluation, 0.0);
  EXPECT_DOUBLE_EQ(*made.task->Score().score, (*evaluation->grade - 0.5) / 0.5);
  const auto stopped = made.task->Evaluate(made.learner->model(), 0, [] { return true; });
  EXPECT_TRUE(absl::IsCancelled(stopped.status()));
}

TEST(TrainTaskTest, FilesAndMetricsOfSeveralTasksHaveItsName) {
  ExperimentConfig config = ProbeConfig();
  config.name = "probe";
  Made made(config, /*is_only_task=*/false);
  made.Round();
  std::map<std::string, std::vector<NamedArray>> files;
  ASSERT_TRUE(made.task->Export(&files).ok());
  EXPECT_THAT(files, ElementsAre(Pair("task.probe.collector", testing::_),
                                 Pair("task.probe.contexts", testing::_),
                                 Pair("task.probe.replay", testing::_)));
  EXPECT_TRUE(made.task->CheckFiles(files).ok());
  files.erase("task.probe.replay");
  EXPECT_EQ(made.task->CheckFiles(files).message(),
            "the checkpoint has no task.probe.replay.safetensors");
  MetricMap metrics;
  made.task->AddMetrics(&metrics);
  EXPECT_EQ(metrics.at("task/probe/env_steps"), 3.0);
  for (const auto& [name, value] : metrics) EXPECT_TRUE(name.starts_with("task/probe/")) << name;
}

}  // namespace
}  // namespace lzero::train_task_test
