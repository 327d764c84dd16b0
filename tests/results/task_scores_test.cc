// Scores of tasks over runs: from run folders, and by hand.
#include "lzero/results/task_scores.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/training_state.h"
#include "tests/results/made_run.h"
#include "tests/run/test_folder.h"

namespace lzero::task_scores_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

ExperimentConfig TwoTasks() {
  ExperimentConfig config, pole, board;
  pole.name = "pole";
  pole.score = {ScoreMeasure::kReturn, 20.0, 220.0};
  pole.stop.target_return = 195.0;
  board.name = "board";
  board.score = {ScoreMeasure::kGrade, 0.5, 1.0};
  config.tasks = {pole, board};
  return config;
}

void WriteState(const std::string& path, const ExperimentConfig& config, TrainingState state) {
  CheckpointContent content;
  content.files["model"] = {};
  content.state_json = TrainingStateToJson(state);
  content.config_yaml = ResolvedYaml(config);
  ASSERT_TRUE(WriteCheckpoint(path, 100, content, 1).ok());
}

TEST(TaskScoresTest, ReadsTheLastEvaluationOfEachTask) {
  const TestFolder folder;
  const std::string path = folder.path() + "/run";
  MadeRun made;
  made.config = TwoTasks();
  MakeRun(path, made);
  TrainingState state;
  state.tasks = {TaskState(), TaskState()};
  state.tasks[0].name = "board";
  state.tasks[1].name = "pole";
  state.tasks[1].solved_env_steps = 4000;
  WriteState(path, made.config, state);
  for (const double shift : {0.0, 1.0}) {
    ASSERT_TRUE(AppendFile(path + "/metrics.jsonl",
                           FormatMetricsLine(50, 1,
                                             {Metric("task/board/eval/grade", 0.6 + 0.1 * shift),
                                              Metric("task/board/eval/return_mean", 9.0),
                                              Metric("task/pole/eval/return_mean", 70.0 + shift)}))
                    .ok());
  }
  const auto results = ReadTaskResults(ReadRun(path).value());
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  const TaskResult &board = results->at(0), &pole = results->at(1);
  EXPECT_EQ(board.task, "board");
  EXPECT_DOUBLE_EQ(board.measured, 0.7);
  EXPECT_DOUBLE_EQ(*board.score, 0.4);
  EXPECT_FALSE(board.has_target);
  EXPECT_DOUBLE_EQ(pole.measured, 71.0);
  EXPECT_DOUBLE_EQ(*pole.score, 51.0 / 200.0);
  EXPECT_EQ(pole.solved_env_steps, 4000);
}

TEST(TaskScoresTest, ARunOfOneEnvironmentIsATaskOfThatName) {
  const TestFolder folder;
  const std::string path = folder.path() + "/run";
  MadeRun made;
  made.config.env.id = "catch";
  made.config.stop.target_return = 0.4;
  made.config.stop.patience = 1;
  made.evaluations = {{40, 0.25}, {80, 0.5}};
  MakeRun(path, made);
  TrainingState state;
  state.tasks[0].solved_env_steps = 80;
  for (const bool has_checkpoint : {false, true}) {  // as it is kept, and as training leaves it
    if (has_checkpoint) WriteState(path, made.config, state);
    const auto results = ReadTaskResults(ReadRun(path).value());
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->at(0).task, "catch");
    EXPECT_EQ(results->at(0).measured, 0.5);
    EXPECT_EQ(results->at(0).solved_env_steps, 80);
    EXPECT_FALSE(results->at(0).score.has_value());
  }
}

TEST(TaskScoresTest, ARunWithoutEvaluationsIsNamed) {
  const TestFolder folder;
  const std::string path = folder.path() + "/run";
  MakeRun(path, {});
  ASSERT_TRUE(AppendFile(path + "/metrics.jsonl", FormatMetricsLine(1, 1, {})).ok());
  WriteState(path, {}, TrainingState());
  EXPECT_THAT(std::string(ReadTaskResults(ReadRun(path).value()).status().message()),
              HasSubstr("/run: no evaluation"));
}

TaskResult Result(const std::string& task, double score, std::optional<int64_t> solved) {
  return {task, score, score, true, solved, {}};
}

TEST(TaskScoresTest, SummariesAreOverTasksAndRuns) {
  const ScoreSummary summary =
      SummarizeScores({Result("b", 0.5, 100), Result("a", 1.0, 10), Result("b", 0.7, {}),
                       Result("a", 3.0, 30), Result("c", -1.0, {})});
  ASSERT_EQ(summary.tasks.size(), 3u);
  EXPECT_EQ(summary.tasks[0].task, "a");
  EXPECT_THAT(summary.tasks[0].scores, ElementsAre(1.0, 3.0));
  // Bounded: a 1.0 and 1.2, b 0.5 and 0.7, c 0.
  EXPECT_NEAR(summary.mean->value, (1.1 + 0.6 + 0.0) / 3.0, 1e-12);
  EXPECT_NEAR(summary.median->value, 0.6, 1e-12);
  EXPECT_NEAR(summary.iqm->value, (0.5 + 0.7 + 1.0) / 3.0, 1e-12);
  EXPECT_NEAR(*summary.worst, 0.0, 1e-12);
  EXPECT_FALSE(summary.mean->interval.has_value());  // three tasks
}

TEST(TaskScoresTest, FromFiveTasksOnThereIsAnInterval) {
  std::vector<TaskResult> results;
  for (const char* task : {"a", "b", "c", "d", "e"}) results.push_back(Result(task, 0.5, {}));
  EXPECT_THAT(SummarizeScores(results).mean->interval->low, DoubleNear(0.5, 1e-12));
  results[0].score = 1.0;
  const Interval interval = *SummarizeScores(results).mean->interval;
  EXPECT_LT(interval.low, 0.51);  // a sample of tasks may lack it
  EXPECT_GT(interval.high, 0.69);
}

TEST(TaskScoresTest, RatiosAreTaskByTask) {
  const ScoreSummary many = SummarizeScores(
      {Result("a", 0.8, 60), Result("b", 0.9, {}), Result("c", 0.5, 5), Result("only", 1.0, 1)});
  const ScoreSummary alone =
      SummarizeScores({Result("a", 1.0, 100), Result("b", 0.9, 50), Result("c", 0.0, 10)});
  const std::vector<TaskRatio> ratios = CompareScores(many, alone);
  ASSERT_EQ(ratios.size(), 3u);
  EXPECT_DOUBLE_EQ(*ratios[0].score, 0.8);
  EXPECT_DOUBLE_EQ(*ratios[0].steps, 0.6);
  EXPECT_DOUBLE_EQ(*ratios[1].score, 1.0);
  EXPECT_TRUE(std::isinf(*ratios[1].steps));  // never, where the others do
  EXPECT_FALSE(ratios[2].score.has_value());  // of nothing
  EXPECT_DOUBLE_EQ(*ratios[2].steps, 0.5);
}

}  // namespace
}  // namespace lzero::task_scores_test
