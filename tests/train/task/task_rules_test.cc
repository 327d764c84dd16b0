#include "lzero/train/task/task_rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/train/build.h"
#include "lzero/train/run_rules.h"
#include "tests/train/train_testing.h"

namespace lzero::task_rules_test {
namespace {

using testing::HasSubstr;

// CartPole and TicTacToe, small.
ExperimentConfig TwoTasks() {
  ExperimentConfig config = TinyConfig();
  ExperimentConfig pole = TinyConfig(), board = BoardConfig();
  pole.name = "pole";
  board.name = "board";
  config.tasks = {pole, board};
  return config;
}

void SetShared(ExperimentConfig* config, const std::function<void(ExperimentConfig&)>& change) {
  change(*config);
  for (ExperimentConfig& task : config->tasks) change(task);
}

// "first key: message" of the first error; "" when there is none.
std::string ErrorOf(const ExperimentConfig& config) {
  return std::string(FirstError(RunErrors(config, NativeRegistry())).message());
}

TEST(TaskRulesTest, TwoUnlikeTasksFit) { EXPECT_EQ(ErrorOf(TwoTasks()), ""); }

TEST(TaskRulesTest, PartsThatThereAreNoneOfAreNamed) {
  ExperimentConfig config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.share = {"policy_head"}; });
  EXPECT_EQ(ErrorOf(config),
            "multitask.share: got policy_head; allowed: transformer, value_head, reward_head, "
            "latent_head");
  config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.freeze = {"pol"}; });
  EXPECT_EQ(ErrorOf(config), "multitask.freeze: got pol; allowed: shared, board, pole");
  config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) { one.init.parts = {"all"}; });
  EXPECT_EQ(ErrorOf(config),
            "init.parts: got all; allowed: shared, own, transformer, value_head, reward_head, "
            "latent_head, encoder, action_embedding, policy_head");
}

TEST(TaskRulesTest, WhatIsFrozenWasLearned) {
  ExperimentConfig config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) {
    one.multitask.freeze = {"shared"};
    one.multitask.share = {"transformer", "value_head"};
    one.init = {.from = "runs/x", .parts = {"transformer"}};
  });
  EXPECT_EQ(ErrorOf(config),
            "multitask.freeze: value_head would stay as it begins, untrained; allowed: init.from "
            "with this part, or multitask.share without it");
  SetShared(&config, [](ExperimentConfig& one) { one.init.parts = {"shared"}; });
  EXPECT_EQ(ErrorOf(config), "");
  // What is a task's own, and the encoder of a group.
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.freeze = {"shared", "pole"}; });
  EXPECT_THAT(ErrorOf(config), HasSubstr("multitask.freeze: encoder would stay as it begins"));
  SetShared(&config, [](ExperimentConfig& one) {
    one.init.parts = {"shared", "encoder", "action_embedding", "policy_head"};
  });
  EXPECT_THAT(ErrorOf(config), HasSubstr("multitask.freeze: reward_head would stay as it begins"));
  SetShared(&config, [](ExperimentConfig& one) { one.init.parts = {"shared", "own"}; });
  EXPECT_EQ(ErrorOf(config), "");
  config.tasks[0].model.encoder_group = "eyes";
  config.tasks.push_back(config.tasks[0]);
  config.tasks.back().name = "twin";  // a group is told of once
  SetShared(&config, [](ExperimentConfig& one) {
    one.multitask.freeze = {"eyes"};
    one.init.parts = {"shared"};
  });
  EXPECT_EQ(ErrorOf(config),
            "multitask.freeze: encoder would stay as it begins, untrained; allowed: init.from with "
            "this part");
  EXPECT_EQ(RunErrors(config, NativeRegistry()).size(), 1u);
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.freeze = {"shared"}; });
  SetShared(&config, [](ExperimentConfig& one) { one.init.from = kNoRun; });
  EXPECT_THAT(ErrorOf(config), HasSubstr("transformer would stay as it begins"));
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.share = {}; });
  EXPECT_THAT(ErrorOf(config), HasSubstr("got [shared], but nothing is shared"));
}

TEST(TaskRulesTest, SomethingLearns) {
  ExperimentConfig config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) {
    one.multitask.evaluate_only = {"pole", "board"};
  });
  EXPECT_EQ(ErrorOf(config), "multitask.freeze: nothing would learn; allowed: a task less");
  SetShared(&config, [](ExperimentConfig& one) {
    one.multitask.freeze = {"shared", "pole"};
    one.multitask.evaluate_only = {"board"};
    one.init = {.from = "runs/x", .parts = {"shared", "own"}};
  });
  EXPECT_THAT(ErrorOf(config), HasSubstr("nothing would learn"));
  SetShared(&config, [](ExperimentConfig& one) { one.multitask.evaluate_only = {}; });
  EXPECT_EQ(ErrorOf(config), "");
}

TEST(TaskRulesTest, OtherFamiliesShareNothing) {
  ExperimentConfig config = TwoTasks();
  SetShared(&config, [](ExperimentConfig& one) { one.model.family = Family::kMuZero; });
  EXPECT_EQ(ErrorOf(config),
            "tasks: family muzero has no parts that tasks can share; allowed: model.family "
            "unizero");
  ExperimentConfig alone = TinyConfig();
  alone.model.family = Family::kMuZero;
  alone.init.from = "runs/x";
  EXPECT_THAT(ErrorOf(alone), HasSubstr("init.from: family muzero has no parts"));
}

TEST(TaskRulesTest, AnOnlyTaskHasNothingToBalance) {
  ExperimentConfig config = TinyConfig();
  config.multitask.balance = Balance::kPcGrad;
  EXPECT_EQ(ErrorOf(config),
            "multitask.balance: one task has no gradients to balance; got pcgrad; allowed: none, "
            "or a second task");
}

TEST(TaskRulesTest, EncodersOfAGroupMustBeAlike) {
  ExperimentConfig config = TwoTasks();
  for (ExperimentConfig& task : config.tasks) task.model.encoder_group = "all";
  EXPECT_EQ(ErrorOf(config),
            "model.encoder_group: tasks board and pole cannot share an encoder: observations are "
            "[3, 3, 3] and [4]; allowed: equal observations and equal model.encoder*");
  config.tasks[1] = config.tasks[0];
  config.tasks[1].name = "other_pole";
  EXPECT_EQ(ErrorOf(config), "");
  config.tasks[1].model.encoder_width = 16;
  EXPECT_THAT(ErrorOf(config), HasSubstr("cannot share an encoder"));
  config = TwoTasks();
  config.tasks[0].model.encoder_group = "board";
  EXPECT_EQ(ErrorOf(config),
            "model.encoder_group: got board, which is the name of a task; allowed: another word");
}

TEST(TaskRulesTest, AllTasksTogetherMustFitTheMachine) {
  ExperimentConfig config = TwoTasks();
  config.tasks.clear();
  for (int i = 0; i < 60; ++i) {
    ExperimentConfig task = TinyConfig();
    task.name = absl::StrCat("pole", i);
    task.replay.capacity = 1'000'000'000;
    task.replay.max_mebibytes = 8192;
    task.replay.segment_length = 200;
    config.tasks.push_back(task);
  }
  EXPECT_THAT(ErrorOf(config), HasSubstr("replay.max_mebibytes: the run needs "));
}

}  // namespace
}  // namespace lzero::task_rules_test
