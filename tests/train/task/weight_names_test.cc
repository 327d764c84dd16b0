#include "lzero/train/task/weight_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/update/task_weights.h"
#include "tests/train/train_testing.h"

namespace lzero::weight_names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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

// What a learner of this config would write, some adapters not being 0.
std::vector<NamedArray> FileOf(const std::vector<ExperimentConfig>& tasks, TaskWeights* weights) {
  *weights = *TaskWeights::Create(tasks, std::vector<WorldModelShape>(tasks.size(), {{4}, 2}), 3,
                                  at::kCPU);
  std::vector<NamedArray> arrays;
  for (const OwnedWeight& weight : weights->weights()) {
    at::Tensor tensor = weight.tensor.detach();
    if (weight.name.ends_with(".up")) tensor.fill_(0.25);
    arrays.push_back(ToNamedArray(weight.name, tensor));
  }
  weights->OnWritten();
  return arrays;
}

TEST(CopyTaskWeightsTest, ATaskIsPlayedWithTheNetworkThatLearned) {
  for (const int64_t rank : {0, 2}) {
    for (const size_t num_tasks : {1, 2}) {
      const std::vector<ExperimentConfig> tasks =
          TaskConfigs(num_tasks == 1 ? ConfigOf({"a"}, rank) : ConfigOf({"a", "b"}, rank));
      TaskWeights weights{WorldModel::Create(tasks[0].model, {{4}, 2}, 1).value()};
      const std::vector<NamedArray> arrays = FileOf(tasks, &weights);
      const auto network = WorldModel::Create(tasks[0].model, {{4}, 2}, 99).value();
      const size_t task = num_tasks - 1;
      const absl::Status copied = CopyTaskWeights(tasks[task], num_tasks, arrays, network.get());
      ASSERT_TRUE(copied.ok()) << copied;
      const Network& expected = weights.view(task);
      for (const auto& entry : network->named_parameters()) {
        EXPECT_TRUE(
            at::allclose(entry.value(), expected.named_parameters()[entry.key()], 1e-6, 1e-6))
            << entry.key();
      }
    }
  }
}

TEST(CopyTaskWeightsTest, WhatIsMissingIsNamed) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(ConfigOf({"a", "b"}));
  TaskWeights weights{WorldModel::Create(tasks[0].model, {{4}, 2}, 1).value()};
  std::vector<NamedArray> arrays = FileOf(tasks, &weights);
  std::erase_if(
      arrays, [](const NamedArray& array) { return array.name == "task.b.policy_head.last.bias"; });
  const auto network = WorldModel::Create(tasks[0].model, {{4}, 2}, 99).value();
  EXPECT_THAT(std::string(CopyTaskWeights(tasks[1], 2, arrays, network.get()).message()),
              HasSubstr("policy_head.last.bias"));
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
