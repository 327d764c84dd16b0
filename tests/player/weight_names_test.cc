#include "lzero/player/weight_names.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/train/train_testing.h"

namespace lzero::weight_names_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

ExperimentConfig ConfigOf(const std::vector<std::string>& names, int64_t rank = 0) {
  ExperimentConfig config = TinyConfig();
  config.multitask.adapter_rank = rank;
  for (const std::string& name : names) {
    ExperimentConfig task = config;
    task.name = name;
    config.tasks.push_back(task);
  }
  return config;
}

TEST(FindTaskTest, ANameOfSeveralOrNoneOfOne) {
  const ExperimentConfig two = ConfigOf({"b", "a"});
  EXPECT_EQ(FindTask(two, "b")->name, "b");
  EXPECT_EQ(FindTask(two, "").status().message(),
            "the run has several tasks; choose one with --task: a, b");
  EXPECT_EQ(FindTask(two, "c").status().message(), "no task 'c'; allowed: a, b");
  EXPECT_EQ(FindTask(ConfigOf({"a"}), "")->name, "a");
  EXPECT_EQ(FindTask(ConfigOf({"a"}), "a")->name, "a");
  EXPECT_TRUE(FindTask(ConfigOf({}), "").ok());
  EXPECT_EQ(FindTask(ConfigOf({}), "a").status().message(),
            "the run has no tasks; got task 'a'; allowed: none");
}

constexpr char kShared[] = "transformer.block0.qkv.weight";
constexpr char kOwn[] = "policy_head.first.weight";

TEST(WeightPlaceTest, NamesTellTheOwner) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(ConfigOf({"a", "b"}));
  EXPECT_EQ(PlaceOf(tasks[0], 2, kShared).name, absl::StrCat("shared.", kShared));
  EXPECT_EQ(PlaceOf(tasks[0], 2, "value_head.last.bias").owner, "shared");
  EXPECT_EQ(PlaceOf(tasks[1], 2, kOwn).name, absl::StrCat("task.b.", kOwn));
  EXPECT_EQ(PlaceOf(tasks[1], 2, "action_embedding").owner, "b");
  EXPECT_EQ(PlaceOf(tasks[1], 2, "encoder.x").name, "task.b.encoder.x");
  ExperimentConfig grouped = tasks[1];
  grouped.model.encoder_group = "maze";
  EXPECT_EQ(PlaceOf(grouped, 2, "encoder.x").name, "group.maze.encoder.x");
  EXPECT_EQ(PlaceOf(grouped, 2, kOwn).owner, "b");
  ExperimentConfig apart = tasks[1];
  apart.multitask.share = {"transformer"};
  EXPECT_EQ(PlaceOf(apart, 2, "value_head.last.bias").owner, "b");
}

TEST(WeightPlaceTest, MatricesOfWhatIsSharedHaveAdapters) {
  const ExperimentConfig task = TaskConfigs(ConfigOf({"a", "b"}, /*rank=*/2))[1];
  const WeightPlace shared = PlaceOf(task, 2, kShared);
  EXPECT_TRUE(HasAdapter(task, shared, 2));
  EXPECT_FALSE(HasAdapter(task, shared, 1));
  EXPECT_FALSE(HasAdapter(task, PlaceOf(task, 2, kOwn), 2));
  EXPECT_FALSE(HasAdapter(ConfigOf({"a", "b"}), shared, 2));
  EXPECT_EQ(AdapterNamesOf(task, 2, kShared).up, absl::StrCat("task.b.adapter.", kShared, ".up"));
  EXPECT_EQ(AdapterNamesOf(task, 1, kShared).down, absl::StrCat("adapter.", kShared, ".down"));
}

constexpr char kCore[] = "transformer.block0.qkv.bias";

TEST(MatchWeightsTest, SharedPartsAreFoundWhateverTheTasks) {
  const ExperimentConfig one = ConfigOf({}), two = ConfigOf({"a", "b"});
  const std::string shared = absl::StrCat("shared.", kCore);
  EXPECT_THAT(MatchWeights(one, two, {kCore, "encoder.x"}), ElementsAre(Pair(kCore, shared)));
  EXPECT_THAT(MatchWeights(two, one, {shared, "task.a.encoder.x"}),
              ElementsAre(Pair(shared, kCore)));
  EXPECT_THAT(MatchWeights(one, one, {kCore}), ElementsAre(Pair(kCore, kCore)));
}

TEST(MatchWeightsTest, WhatIsATasksOwnIsFoundByItsName) {
  ExperimentConfig config = ConfigOf({"a", "new"});
  config.init.parts = {"own"};
  const std::vector<std::string> weights = {"task.a.encoder.x", "task.a.adapter.y.up",
                                            "task.new.encoder.x", absl::StrCat("shared.", kCore)};
  EXPECT_THAT(MatchWeights(config, ConfigOf({"b", "a"}, /*rank=*/2), weights),
              ElementsAre(Pair("task.a.encoder.x", "task.a.encoder.x"),
                          Pair("task.a.adapter.y.up", "task.a.adapter.y.up")));
  EXPECT_THAT(MatchWeights(config, ConfigOf({"a"}, /*rank=*/2), weights),
              ElementsAre(Pair("task.a.encoder.x", "encoder.x"),
                          Pair("task.a.adapter.y.up", "adapter.y.up")));
  EXPECT_THAT(MatchWeights(config, ConfigOf({"a"}), weights),  // it has no adapters
              ElementsAre(Pair("task.a.encoder.x", "encoder.x")));
  ExperimentConfig alone = ConfigOf({"a"});
  alone.init.parts = {"own"};
  EXPECT_THAT(MatchWeights(alone, ConfigOf({"a", "b"}), {"encoder.x", kCore}),
              ElementsAre(Pair("encoder.x", "task.a.encoder.x")));
  alone.tasks[0].init.like = "b";
  EXPECT_THAT(MatchWeights(alone, ConfigOf({"a", "b"}), {"encoder.x", kCore}),
              ElementsAre(Pair("encoder.x", "task.b.encoder.x")));
}

TEST(MatchWeightsTest, PartsAreTakenByName) {
  ExperimentConfig config = ConfigOf({"a", "b"});
  config.init.parts = {"transformer", "encoder"};
  const std::string core = absl::StrCat("shared.", kCore);
  EXPECT_THAT(
      MatchWeights(config, config,
                   {core, "shared.value_head.x", "task.a.encoder.x", "task.a.policy_head.x"}),
      ElementsAre(Pair(core, core), Pair("task.a.encoder.x", "task.a.encoder.x")));
}

TEST(MatchWeightsTest, PartsAreToldOnce) {
  const ExperimentConfig config = ConfigOf({"a", "b"});
  const std::string core = absl::StrCat("shared.", kCore);
  ExperimentConfig all = config;
  all.init.parts = {"shared", "own"};
  EXPECT_THAT(PartsOf(MatchWeights(all, all, {"task.a.encoder.y", core, "task.a.encoder.x"})),
              ElementsAre("shared.transformer", "task.a.encoder"));
  EXPECT_THAT(PartsOf({{{"encoder.x", "task.a.encoder.x"}}}), ElementsAre("encoder"));
}

TEST(MatchWeightsTest, AnEncoderOfAGroupIsFoundByItsTasks) {
  ExperimentConfig grouped = ConfigOf({"a", "b"}), alone = ConfigOf({"b"});
  for (ExperimentConfig& task : grouped.tasks) task.model.encoder_group = "maze";
  grouped.init.parts = alone.init.parts = {"own"};
  EXPECT_THAT(MatchWeights(alone, grouped, {"encoder.x"}),
              ElementsAre(Pair("encoder.x", "group.maze.encoder.x")));
  EXPECT_THAT(MatchWeights(grouped, alone, {"group.maze.encoder.x"}),
              ElementsAre(Pair("group.maze.encoder.x", "encoder.x")));
}

}  // namespace
}  // namespace lzero::weight_names_test
