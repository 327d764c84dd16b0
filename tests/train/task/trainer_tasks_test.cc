// Runs of several tasks: one of them alone is today's run, ratios are exact for each, and what is
// resumed ends as what was never stopped.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/family/tensor_families.h"
#include "lzero/player/agent_loader.h"
#include "lzero/run/training_state.h"
#include "tests/train/trainer_testing.h"

namespace lzero::trainer_tasks_test {
namespace {

using testing::HasSubstr;

// Pole: vectors, 2 actions. Board: planes, 9 actions, two players. Pendulum: box actions. Each with
// sizes of its own, window and unroll among them.
ExperimentConfig Suite() {
  ExperimentConfig config = TinyConfig();
  config.stop.end_at_target = false;
  ExperimentConfig pole = config, board = BoardConfig(), pendulum = config;
  pole.name = "pole";
  pole.score = {ScoreMeasure::kReturn, 10.0, 40.0};
  board.name = "board";
  board.stop.end_at_target = false;
  board.replay.num_unroll_steps = 3;
  board.train.batch_size = 6;
  board.train.updates_per_env_step = 0.3;
  board.train.steps_per_round = 2;
  pendulum.name = "pendulum";
  pendulum.env.id = "pendulum";
  pendulum.search.num_sampled_actions = 3;
  pendulum.model.context_length = 6;
  pendulum.train.updates_per_env_step = 0.7;
  pendulum.train.start_env_steps = 20;
  pendulum.stop.max_env_steps = 90;
  pendulum.score = {ScoreMeasure::kReturn, -300.0, 0.0};
  config.tasks = {pole, board, pendulum};
  return config;
}

TEST(TrainerTasksTest, OneTaskIsThePlainRunByteForByte) {
  for (const bool deterministic : {true, false}) {
    for (ExperimentConfig plain : {TinyConfig(), BoardConfig()}) {
      plain.deterministic = deterministic;
      ExperimentConfig wrapped = plain;
      wrapped.env.id = "catch";  // what stands beside the tasks is no experiment
      wrapped.train.batch_size = 99;
      wrapped.tasks = {plain};
      wrapped.tasks[0].name = "only";
      TestRun expected(plain), got(wrapped);
      ASSERT_TRUE(expected.Run().ok());
      const auto outcome = got.Run();
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      ExpectSameEnd(got, expected, /*compare_metrics=*/deterministic);
    }
  }
}

TEST(TrainerTasksTest, TheOrderOfTasksChangesNothing) {
  ExperimentConfig config = Suite();
  TestRun expected(config);
  ASSERT_TRUE(expected.Run().ok());
  std::ranges::reverse(config.tasks);
  TestRun got(config);
  ASSERT_TRUE(got.Run().ok());
  ExpectSameEnd(got, expected, /*compare_metrics=*/true);
}

// Searches and contexts of a task are its own: without updates it collects the same steps, and
// keeps the same contexts, whoever searches in turn with it, and goes on when another has ended.
TEST(TrainerTasksTest, WhoIsBesideATaskChangesNothingOfWhatItCollects) {
  ExperimentConfig config = Suite();
  for (ExperimentConfig& task : config.tasks) task.train.start_env_steps = 1000;
  config.tasks[2].stop.max_env_steps = 30;  // pendulum ends early
  TestRun beside(config);
  ASSERT_TRUE(beside.Run().ok());
  const auto all = beside.Latest().content.files;
  for (const size_t other : {1, 2}) {
    ExperimentConfig fewer = config;
    fewer.tasks = {config.tasks[0], config.tasks[other]};
    TestRun run(fewer);
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->state.updates, 0);
    const auto files = run.Latest().content.files;
    for (const char* file : {"task.pole.replay", "task.pole.collector", "task.pole.contexts"}) {
      SCOPED_TRACE(file);
      ASSERT_TRUE(files.contains(file));
      ExpectSameBytes({{file, files.at(file)}}, {{file, all.at(file)}});
    }
  }
}

// At a checkpoint, what the newest round collected is still to be learned from.
TEST(TrainerTasksTest, TheRatioOfEachTaskIsExactAtEveryCheckpoint) {
  ExperimentConfig config = Suite();
  config.checkpoint.every_updates = 3;
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.env_steps, 120 + 120 + 90);
  const auto checkpoints = ListCheckpoints(run.dir()).value();
  ASSERT_GT(checkpoints.size(), 5u);
  for (const CheckpointPlace& place : checkpoints) {
    const LoadedCheckpoint checkpoint = ReadCheckpoint(place.path).value();
    const TrainingState state = TrainingStateFromJson(checkpoint.content.state_json).value();
    ASSERT_EQ(state.tasks.size(), 3u);
    int64_t env_steps = 0;
    for (const TaskState& task : state.tasks) {
      const ExperimentConfig& of_task =
          *std::ranges::find(config.tasks, task.name, &ExperimentConfig::name);
      env_steps += task.env_steps;
      const int64_t round = of_task.env.num_collectors * of_task.train.steps_per_round;
      const auto due = [&](int64_t steps) {
        const int64_t counted = std::max<int64_t>(0, steps - of_task.train.start_env_steps);
        return std::floor(of_task.train.updates_per_env_step * static_cast<double>(counted) + 1e-9);
      };
      EXPECT_LE(task.updates, due(task.env_steps)) << task.name << " at " << place.env_steps;
      EXPECT_GE(task.updates, due(task.env_steps - round))
          << task.name << " at " << place.env_steps;
    }
    EXPECT_EQ(env_steps, state.env_steps);
  }
  // A task that reached its limit early has made all its updates.
  const TrainingState& last = outcome->state;
  EXPECT_EQ(last.tasks[1].name, "pendulum");
  EXPECT_EQ(last.tasks[1].updates, 49);  // 0.7 * (90 - 20)
}

TEST(TrainerTasksTest, ResumesExactly) {
  ExpectExactResume(Suite(), 3);
  ExperimentConfig overlapped = Suite();
  overlapped.deterministic = false;
  ExpectExactResume(overlapped, 4);
}

// One task's rewards are bad for a while, and the weights of the last checkpoint are everyone's.
TEST(TrainerTasksTest, ARollbackTakesEveryTaskBack) {
  ExperimentConfig config = Suite();
  config.train.on_nan = OnNan::kRollback;
  config.checkpoint.every_updates = 12;
  for (ExperimentConfig& task : config.tasks) task.train.on_nan = config.train.on_nan;
  config.tasks[0].train.batch_size = 64;  // meets them before a checkpoint holds them
  config.tasks[0].env.id = "probe";
  config.tasks[0].env.max_episode_steps = 0;
  TestRun run(config, [](ProbeStep& step) {
    if (!step.is_evaluator && step.num_steps >= 61 && step.num_steps <= 63) step.reward = NAN;
  });
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const auto names = ListDirectory(run.dir()).value();
  const auto bad = std::ranges::find_if(
      names, [](const std::string& name) { return name.starts_with("bad_update_"); });
  ASSERT_NE(bad, names.end());
  EXPECT_THAT(ListDirectory(run.dir() + "/" + *bad).value(),
              testing::IsSupersetOf({"task.board.batch.safetensors", "task.pole.batch.safetensors",
                                     "task.pendulum.batch.safetensors"}));
  std::map<std::string, double> before;
  for (const MetricsLine& line : run.Metrics()) {
    for (const char* name : {"env_steps", "task/pole/env_steps", "task/board/updates"}) {
      if (line.count(name) == 0) continue;
      EXPECT_GE(*line.at(name), before[name]) << name;
      before[name] = *line.at(name);
    }
    for (const auto& [name, value] : line) EXPECT_TRUE(value.has_value()) << name;
  }
  ASSERT_EQ(outcome->state.tasks.size(), 3u);
  EXPECT_EQ(outcome->state.env_steps, 120 + 120 + 90);
  EXPECT_EQ(outcome->state.tasks[1].updates, 49);  // of pendulum: 0.7 * (90 - 20)
}

TEST(TrainerTasksTest, UpdatesMadeApartAreOneForEachTask) {
  ExperimentConfig config = Suite();
  config.multitask.updates = UpdateTasks::kApart;
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  int64_t num_served = 0;
  for (const TaskState& task : outcome->state.tasks) num_served += task.updates;
  EXPECT_EQ(outcome->state.updates, num_served);
  config.stop.max_updates = 10;  // reached between two tasks of one round
  TestRun stopped(config);
  EXPECT_EQ(stopped.Run()->state.updates, 10);
  config.stop.max_updates.reset();
  ExpectExactResume(config, 4);
}

TEST(TrainerTasksTest, ResumesExactlyWithAdaptersAndBalance) {
  for (const int64_t rank : {0, 2}) {
    ExperimentConfig config = Suite();
    config.multitask.adapter_rank = rank;
    config.multitask.balance = rank == 0 ? Balance::kPcGrad : Balance::kGradNorm;
    for (ExperimentConfig& task : config.tasks) task.multitask = config.multitask;
    ExpectExactResume(config, 4);
  }
}

TEST(TrainerTasksTest, ThePlanHasALineForEachTaskAndOneForTheRun) {
  ExperimentConfig config = Suite();
  for (ExperimentConfig* one : {&config, &config.tasks[0], &config.tasks[1], &config.tasks[2]}) {
    one->stop.end_at_target = true;
    one->stop.patience = 1;
    one->stop.target_return = 0.5;
  }
  config.tasks[1].score.measure = ScoreMeasure::kGrade;
  TestRun run(config);
  EXPECT_THAT(
      (*run.Make())->PlanText(/*detailed=*/true),
      testing::AllOf(
          HasSubstr("pendulum      pendulum: observation [3], actions of 1 number; "),
          HasSubstr(
              "0.7 updates a step; 90 env steps; target a mean return of 0.5 in an evaluation"),
          HasSubstr("; target a share of optimal moves of 0.5 in an evaluation\n"),
          HasSubstr("engine and cache of its collector "), HasSubstr(" tokens at most\n"),
          HasSubstr("\nstops         after the env steps of every task, or when all tasks are at "
                    "their targets at once\n")));
}

TEST(TrainerTasksTest, MetricsAndEvaluationsNameTheTasks) {
  TestRun run(Suite());
  ASSERT_TRUE(run.Run().ok());
  bool has_loss = false, has_score = false;
  for (const MetricsLine& line : run.Metrics()) {
    if (line.contains("task/board/loss/value")) {
      has_loss = true;
      EXPECT_TRUE(line.contains("task/pole/replay/size"));
      EXPECT_TRUE(line.contains("task/pendulum/env_steps"));
      EXPECT_TRUE(line.contains("grad/norm"));
      EXPECT_FALSE(line.contains("loss/value"));
      EXPECT_FALSE(line.contains("replay/size"));
    }
    if (!line.contains("score/mean")) continue;
    has_score = true;
    EXPECT_TRUE(line.contains("task/board/eval/return_mean"));
    EXPECT_FALSE(line.contains("task/board/score"));  // it has no scale
    const double pole = std::clamp(*line.at("task/pole/score"), 0.0, 1.2);
    const double pendulum = std::clamp(*line.at("task/pendulum/score"), 0.0, 1.2);
    EXPECT_NEAR(*line.at("score/mean"), (pole + pendulum) / 2.0, 1e-12);
    EXPECT_NEAR(*line.at("task/pole/score"), (*line.at("task/pole/eval/return_mean") - 10.0) / 30.0,
                1e-12);
  }
  EXPECT_TRUE(has_loss);
  EXPECT_TRUE(has_score);
  const std::string eval = JoinPath(run.dir(), "eval");
  const std::string step = JoinPath(eval, ListDirectory(eval).value().front());
  EXPECT_THAT(ListDirectory(step).value(),
              testing::ElementsAre("board", "episodes.csv", "pendulum", "pole", "summary.json"));
}

TEST(TrainerTasksTest, BestIsTheCheckpointOfTheBestMeanScore) {
  TestRun run(Suite());
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  double best = -1.0, at = 0.0;
  for (const MetricsLine& line : run.Metrics()) {
    if (!line.contains("score/mean") || *line.at("score/mean") < best) continue;
    best = *line.at("score/mean");
    at = *line.at("env_steps");
  }
  EXPECT_EQ(*outcome->state.best_return, best);
  const auto kept = FindCheckpoint(JoinPath(run.dir(), "checkpoints/best"));
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(ReadCheckpoint(*kept)->env_steps, static_cast<int64_t>(at));
}

// With an encoder that two tasks share, and positions of one that are searched again.
TEST(TrainerTasksTest, ResumesExactlyWithAGroupAndReanalysis) {
  ExperimentConfig config = Suite();
  config.tasks[1] = config.tasks[0];
  config.tasks[1].name = "rod";
  config.tasks[0].model.encoder_group = config.tasks[1].model.encoder_group = "poles";
  config.tasks[1].replay.reanalyze_ratio = 0.5;
  ExpectExactResume(config, 4);
}

TEST(TrainerTasksTest, WhatIsOnlyEvaluatedMakesNoSteps) {
  ExperimentConfig config = Suite();
  config.multitask.evaluate_only = {"board"};
  for (ExperimentConfig& task : config.tasks) task.multitask = config.multitask;
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.env_steps, 120 + 90);
  EXPECT_EQ(outcome->state.tasks[0].updates, 0);
  EXPECT_TRUE(outcome->state.tasks[0].last_return.has_value());
}

TEST(TrainerTasksTest, EachTaskIsSolvedOnItsOwn) {
  ExperimentConfig config = Suite();
  for (ExperimentConfig& task : config.tasks) task.stop.patience = 1;
  config.tasks[0].stop.target_return = 1.0;     // pole: any episode
  config.tasks[2].stop.target_return = -0.001;  // pendulum: never
  TestRun run(config);
  const auto outcome = run.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->reason, StopReason::kLimit);
  EXPECT_FALSE(outcome->state.solved_env_steps.has_value());
  EXPECT_TRUE(outcome->state.tasks[2].solved_env_steps.has_value());
  EXPECT_FALSE(outcome->state.tasks[1].solved_env_steps.has_value());
}

TEST(TrainerTasksTest, ATaskOfACheckpointIsPlayedAlone) {
  TestRun run(Suite());
  ASSERT_TRUE(run.Run().ok());
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  EXPECT_EQ(LoadAgent(run.dir(), registry, options, &pool).status().message(),
            "task: the run has several tasks; choose one with --task: board, pendulum, pole");
  options.task = "pendulum";
  auto agent = LoadAgent(run.dir(), registry, options, &pool);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->config.env.id, "pendulum");
  EXPECT_EQ(agent->config.model.context_length, 6);
  EXPECT_TRUE(agent->role.evaluator->Run({{1, 2}}).ok());
}

// A run that starts from another: shared parts are its first weights, own ones of the same name
// where they are asked for; frozen parts are those of the other run to the last bit.
TEST(TrainerTasksTest, ANewRunStartsFromAnOldOne) {
  TestRun before(Suite());
  ASSERT_TRUE(before.Run().ok());
  ExperimentConfig config = Suite();
  ExperimentConfig late = TinyConfig();
  late.name = "late";
  late.env.id = "catch";
  config.tasks = {config.tasks[0], late};  // pole, and a new one
  for (ExperimentConfig* one : {&config, &config.tasks[0], &config.tasks[1]}) {
    one->init = {.from = before.dir(), .parts = {"shared", "own"}};
    one->multitask.freeze = {"shared", "pole"};
  }
  TestRun after(config);
  auto trainer = after.Make();
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  ASSERT_TRUE((*trainer)->StartFrom(before.Latest().content).ok());
  const auto outcome = (*trainer)->Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->state.tasks[0].name, "late");
  EXPECT_GT(outcome->state.tasks[0].updates, 0);
  EXPECT_EQ(outcome->state.tasks[1].env_steps, 0);  // all it has is frozen: it is evaluated alone
  EXPECT_TRUE(outcome->state.tasks[1].last_return.has_value());
  const CheckpointContent first_content = before.Latest().content, content = after.Latest().content;
  int num_same = 0;
  for (const NamedArray& array : content.files.at("model")) {
    if (array.name.starts_with("task.late.")) continue;
    for (const NamedArray& other : first_content.files.at("model")) {
      if (other.name != array.name) continue;
      EXPECT_EQ(other.bytes, array.bytes) << array.name;
      ++num_same;
    }
  }
  EXPECT_GT(num_same, 20);
  // A plain run takes the shared parts alone.
  ExperimentConfig plain = TinyConfig();
  plain.init.from = before.dir();
  TestRun alone(plain);
  auto fresh = alone.Make();
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  EXPECT_TRUE((*fresh)->StartFrom(before.Latest().content).ok());
  plain.init = {.from = before.dir(), .parts = {"own"}, .like = "maze"};
  TestRun like(plain);
  auto other = like.Make();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_THAT((*other)->StartFrom(before.Latest().content).ToString(),
              HasSubstr("init.like: no task 'maze'; allowed: "));
}

TEST(TrainerTasksTest, WhatCannotBeResumedIsTold) {
  TestRun run(Suite());
  ASSERT_TRUE(run.Run().ok());
  ExperimentConfig fewer = Suite();
  fewer.tasks.pop_back();
  TestRun other(fewer);
  const auto resumed = other.Resume(run.dir());
  EXPECT_EQ(resumed.status().message(), "the checkpoint has 3 tasks, the config 2");
}

}  // namespace
}  // namespace lzero::trainer_tasks_test
