#include "lzero/config/task_config.h"

#include <algorithm>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/experiment_config.h"

namespace lzero::task_config_test {
namespace {

using testing::HasSubstr;

ExperimentConfig ConfigOf(const std::vector<std::string>& names) {
  ExperimentConfig config;
  config.seed = 17;
  for (const std::string& name : names) {
    ExperimentConfig task;
    task.seed = 17;
    task.name = name;
    config.tasks.push_back(task);
  }
  return config;
}

TEST(TaskConfig, ANormalizedScoreIsZeroForRandomPlayAndOneForTheExpert) {
  const ScoreConfig score = {ScoreMeasure::kReturn, -20.0, 30.0};
  EXPECT_EQ(score.Normalized(-20.0), 0.0);
  EXPECT_EQ(score.Normalized(30.0), 1.0);
  EXPECT_EQ(score.Normalized(55.0), 1.5);
  EXPECT_FALSE((ScoreConfig{ScoreMeasure::kReturn, -20.0, std::nullopt}).is_set());
}

TEST(TaskConfig, WhatBelongsToAnEnvironmentIsATasksOwn) {
  for (const char* own :
       {"env.id", "search.num_simulations", "replay.discount", "loss.value_weight", "score.expert",
        "model.encoder", "model.encoder_width", "model.context_length", "train.batch_size",
        "stop.max_env_steps"}) {
    EXPECT_TRUE(IsTaskSetting(own)) << own;
  }
  for (const char* shared : {"model.embed_dim", "model.support_size", "train.learning_rate",
                             "evaluate.every_updates", "stop.max_updates", "env.num_threads",
                             "inference.runner", "checkpoint.keep", "seed", "multitask.share"}) {
    EXPECT_FALSE(IsTaskSetting(shared)) << shared;
  }
}

TEST(TaskConfig, NamesAreThoseOfFiles) {
  for (const char* good : {"pong", "catch_2", "2048"}) EXPECT_EQ(TaskNameProblem(good), "");
  for (const char* bad : {"", "Pong", "a.b", "a/b", "shared", "group", "own"}) {
    EXPECT_THAT(TaskNameProblem(bad), HasSubstr("a name is 1 to 40 of a-z, 0-9 and _")) << bad;
  }
  EXPECT_NE(TaskNameProblem(std::string(41, 'a')), "");
}

TEST(TaskConfig, AConfigWithoutTasksIsTheOnlyOne) {
  ExperimentConfig config = ConfigOf({});
  ASSERT_EQ(TaskConfigs(config).size(), 1u);
  EXPECT_EQ(TaskConfigs(config)[0].seed, 17);
}

TEST(TaskConfig, AnOnlyTaskHasTheSeedOfTheRun) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(ConfigOf({"pong"}));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].seed, 17);
}

TEST(TaskConfig, EnvironmentsAreThoseBesideAndOfTheTasks) {
  ExperimentConfig config = ConfigOf({"a", "b"});
  EXPECT_THAT(EnvConfigsOf(&config),
              testing::ElementsAre(&config.env, &config.tasks[0].env, &config.tasks[1].env));
}

TEST(TaskConfig, ScoresAreBounded) {
  EXPECT_EQ(BoundedScore(-3.0), 0.0);
  EXPECT_EQ(BoundedScore(0.5), 0.5);
  EXPECT_EQ(BoundedScore(7.0), 1.2);
}

TEST(TaskConfig, SeedsFollowTheNameAndNotTheOrder) {
  const std::vector<ExperimentConfig> one = TaskConfigs(ConfigOf({"c", "a", "b"}));
  const std::vector<ExperimentConfig> other = TaskConfigs(ConfigOf({"b", "c", "a"}));
  const std::vector<ExperimentConfig> fewer = TaskConfigs(ConfigOf({"c", "a"}));
  std::set<int64_t> seeds;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].name, std::string(1, static_cast<char>('a' + i)));
    EXPECT_EQ(one[i].name, other[i].name);
    EXPECT_EQ(one[i].seed, other[i].seed);
    EXPECT_GE(one[i].seed, 0);
    EXPECT_LE(one[i].seed, int64_t{1} << 53);
    seeds.insert(one[i].seed);
  }
  EXPECT_EQ(seeds.size(), 3u);
  EXPECT_EQ(fewer[1].seed, one[2].seed);  // whatever other tasks there are
}

}  // namespace
}  // namespace lzero::task_config_test
