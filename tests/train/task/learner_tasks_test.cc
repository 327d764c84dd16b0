// Updates of several tasks in one model: what a task's part takes part in, and what it does not.
#include <cmath>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::learner_tasks_test {
namespace {

using reference::RandomBatch;

constexpr double kLearningRate = 0.01;

ExperimentConfig TwoTasks() {
  ExperimentConfig config = TinyConfig();
  for (const char* name : {"a", "b"}) {
    ExperimentConfig task = config;
    task.name = name;
    config.tasks.push_back(task);
  }
  return config;
}

// Settings that both tasks share.
void SetShared(ExperimentConfig* config, const MultitaskConfig& multitask) {
  config->multitask = multitask;
  for (ExperimentConfig& task : config->tasks) task.multitask = multitask;
}

std::unique_ptr<Learner> MakeLearner(const ExperimentConfig& config) {
  SetTensorThreads(1);
  const WorldModelShape shape = {{reference::kObservationSize}, reference::kNumActions};
  auto learner = Learner::Create(config, std::vector<WorldModelShape>(2, shape));
  EXPECT_TRUE(learner.ok()) << learner.status();
  return std::move(learner).value();
}

std::map<std::string, NamedArray> FileOf(const Learner& learner, const std::string& file) {
  std::map<std::string, NamedArray> arrays;
  const auto files = learner.Export();
  for (const NamedArray& array : files.at(file)) arrays[array.name] = array;
  return arrays;
}

// Names of what differs, up to the second dot: "shared.transformer", "task.a".
std::set<std::string> ChangedParts(const std::map<std::string, NamedArray>& before,
                                   const std::map<std::string, NamedArray>& after) {
  std::set<std::string> parts;
  for (const auto& [name, array] : before) {
    if (array.bytes == after.at(name).bytes) continue;
    const size_t end = name.find('.');
    parts.insert(name.starts_with("shared.") ? "shared" : name.substr(0, name.find('.', end + 1)));
  }
  return parts;
}

TEST(LearnerTasksTest, APartWithoutGradientIsNeitherSteppedNorDecayed) {
  const auto learner = MakeLearner(TwoTasks());
  const TrainBatch batch = RandomBatch(5, 1, 3, 1);
  const auto model = FileOf(*learner, "model"), target = FileOf(*learner, "target"),
             optimizer = FileOf(*learner, "optimizer");
  ASSERT_TRUE(learner->Update({TaskBatch{1, &batch, nullptr}}, kLearningRate).ok());
  const std::set<std::string> expected = {"shared", "task.b"};
  EXPECT_EQ(ChangedParts(model, FileOf(*learner, "model")), expected);
  EXPECT_EQ(ChangedParts(target, FileOf(*learner, "target")), expected);
  EXPECT_EQ(ChangedParts(optimizer, FileOf(*learner, "optimizer")), expected);
}

TEST(LearnerTasksTest, EveryWeightMoves) {
  for (const int64_t rank : {0, 2}) {
    ExperimentConfig config = TwoTasks();
    MultitaskConfig multitask;
    multitask.adapter_rank = rank;
    SetShared(&config, multitask);
    const auto learner = MakeLearner(config);
    const auto before = FileOf(*learner, "model");
    const TrainBatch batches[] = {RandomBatch(5, 1, 3, 1), RandomBatch(4, 0, 2, 2)};
    for (int update = 0; update < 3; ++update) {
      ASSERT_TRUE(
          learner->Update({TaskBatch{0, &batches[0]}, TaskBatch{1, &batches[1]}}, kLearningRate)
              .ok());
    }
    for (const auto& [name, array] : FileOf(*learner, "model")) {
      EXPECT_NE(array.bytes, before.at(name).bytes) << name;
    }
  }
}

TEST(LearnerTasksTest, FrozenPartsStayAndAdaptersLearn) {
  ExperimentConfig config = TwoTasks();
  MultitaskConfig multitask;
  multitask.freeze = {"shared", "a"};
  SetShared(&config, multitask);
  EXPECT_FALSE(MakeLearner(config)->Learns(0));
  multitask.freeze = {"shared"};
  multitask.adapter_rank = 2;
  SetShared(&config, multitask);
  const auto learner = MakeLearner(config);
  const auto before = FileOf(*learner, "model");
  const at::Tensor merged = learner->model(0).parameters()[2].detach().clone();
  const TrainBatch batch = RandomBatch(5, 1, 3, 1);
  for (int update = 0; update < 2; ++update) {
    ASSERT_TRUE(learner->Update({TaskBatch{0, &batch}}, kLearningRate).ok());
  }
  EXPECT_EQ(ChangedParts(before, FileOf(*learner, "model")), std::set<std::string>{"task.a"});
  bool is_adapted = false;
  for (const auto& entry : learner->model(0).named_parameters()) {
    const auto shared = before.find("shared." + entry.key());
    if (shared == before.end() || entry.value().dim() != 2) continue;
    is_adapted = is_adapted || ToNamedArray("", entry.value()).bytes != shared->second.bytes;
  }
  EXPECT_TRUE(is_adapted);
}

// The loss is a mean over the unrolled positions of all tasks: 6 x 3 of one and 2 x 1 of the other.
TEST(LearnerTasksTest, TheLossIsTheMeanOverAllPositions) {
  const auto learner = MakeLearner(TwoTasks());
  const TrainBatch large = RandomBatch(6, 1, 3, 1), small = RandomBatch(2, 1, 1, 2);
  ASSERT_TRUE(learner->Update({TaskBatch{0, &large}, TaskBatch{1, &small}}, kLearningRate).ok());
  MetricMap metrics = learner->ReadMetrics();
  EXPECT_NEAR(metrics.at("loss/total"),
              0.9 * metrics.at("task/a/loss/total") + 0.1 * metrics.at("task/b/loss/total"),
              1e-6 * metrics.at("loss/total"));
  EXPECT_TRUE(metrics.contains("task/b/loss/value"));
  EXPECT_TRUE(metrics.contains("grad/norm"));
  EXPECT_FALSE(metrics.contains("loss/value"));
}

TEST(LearnerTasksTest, CosinesOfGradientsAreReportedWhenALineIsDue) {
  ExperimentConfig config = TwoTasks();
  config.train.log_every_updates = 2;
  for (ExperimentConfig& task : config.tasks) task.train.log_every_updates = 2;
  const auto learner = MakeLearner(config);
  const TrainBatch batch = RandomBatch(5, 1, 3, 1);
  for (const bool is_due : {false, true}) {
    ASSERT_TRUE(learner->Update({TaskBatch{0, &batch}, TaskBatch{1, &batch}}, kLearningRate).ok());
    MetricMap metrics = learner->ReadMetrics();
    ASSERT_EQ(metrics.contains("conflict/a/b"), is_due);
    if (!is_due) continue;
    EXPECT_EQ(metrics.at("conflict/cosine_min"), metrics.at("conflict/a/b"));
    EXPECT_GT(metrics.at("conflict/a/b"), -1.0001);
    EXPECT_LT(metrics.at("conflict/a/b"), 1.0001);
  }
}

TEST(LearnerTasksTest, GradientsOfUpdatesMadeApartAreComparedWithinARound) {
  const TrainBatch batches[] = {RandomBatch(5, 1, 3, 1), RandomBatch(4, 0, 2, 2)};
  const auto cosine = [&](UpdateTasks updates) {
    ExperimentConfig config = TwoTasks();
    config.train.log_every_updates = updates == UpdateTasks::kApart ? 2 : 1;
    MultitaskConfig multitask;
    multitask.updates = updates;
    SetShared(&config, multitask);
    const auto learner = MakeLearner(config);
    const TaskBatch first = {0, &batches[0]}, second = {1, &batches[1]};
    if (updates == UpdateTasks::kTogether) {
      EXPECT_TRUE(learner->Update({first, second}, 0.0).ok());
      return learner->ReadMetrics().at("conflict/a/b");
    }
    EXPECT_TRUE(learner->Update({first}, 0.0).ok());
    EXPECT_TRUE(learner->Update({second}, 0.0).ok());
    const double apart = learner->ReadMetrics().at("conflict/a/b");
    EXPECT_TRUE(learner->Update({first}, 0.0).ok());
    learner->ForgetGradients();
    EXPECT_TRUE(learner->Update({second}, 0.0).ok());
    EXPECT_FALSE(learner->ReadMetrics().contains("conflict/a/b"));
    return apart;
  };
  // With a learning rate of 0 both see the same weights.
  EXPECT_NEAR(cosine(UpdateTasks::kApart), cosine(UpdateTasks::kTogether), 1e-5);
}

TEST(LearnerTasksTest, ABadBatchOfOneTaskNamesItAndChangesNothing) {
  const auto learner = MakeLearner(TwoTasks());
  const TrainBatch good = RandomBatch(5, 1, 3, 1);
  TrainBatch bad = good;
  bad.rewards[0] = std::nanf("");
  const auto before = FileOf(*learner, "model");
  const absl::Status status =
      learner->Update({TaskBatch{0, &good}, TaskBatch{1, &bad}}, kLearningRate);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "the loss of task b of update 1 is nan");
  EXPECT_TRUE(ChangedParts(before, FileOf(*learner, "model")).empty());
}

}  // namespace
}  // namespace lzero::learner_tasks_test
