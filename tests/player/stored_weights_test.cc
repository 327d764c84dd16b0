// Weights out of a model file, against the network that learned them.
#include "lzero/player/stored_weights.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/update/task_weights.h"
#include "tests/train/train_testing.h"

namespace lzero::stored_weights_test {
namespace {

using testing::ElementsAre;

std::vector<ExperimentConfig> TasksOf(const std::vector<std::string>& names, int64_t rank) {
  ExperimentConfig config = TinyConfig();
  config.multitask.adapter_rank = rank;
  for (const std::string& name : names) {
    ExperimentConfig task = config;
    task.name = name;
    config.tasks.push_back(task);
  }
  return TaskConfigs(config);
}

TaskWeights WeightsOf(const std::vector<ExperimentConfig>& tasks) {
  return TaskWeights::Create(tasks, std::vector<WorldModelShape>(tasks.size(), {{4}, 2}), 3,
                             at::kCPU)
      .value();
}

// What a learner writes, some adapters not being 0.
std::vector<NamedArray> FileOf(TaskWeights* weights) {
  std::vector<NamedArray> arrays;
  for (const OwnedWeight& weight : weights->weights()) {
    at::Tensor tensor = weight.tensor.detach();
    if (weight.name.ends_with(".up")) tensor.fill_(0.25);
    arrays.push_back(ToNamedArray(weight.name, tensor));
  }
  weights->OnWritten();
  return arrays;
}

TEST(StoredWeightsTest, ATaskIsPlayedWithTheNetworkThatLearned) {
  for (const int64_t rank : {0, 2}) {
    for (const size_t num_tasks : {1, 2}) {
      const auto tasks = num_tasks == 1 ? TasksOf({"a"}, rank) : TasksOf({"a", "b"}, rank);
      TaskWeights weights = WeightsOf(tasks);
      const std::vector<NamedArray> arrays = FileOf(&weights);
      const size_t task = num_tasks - 1;
      const StoredWeights stored(tasks[task], num_tasks, arrays);
      for (const auto& entry : weights.view(task).named_parameters()) {
        const at::IntArrayRef shape = entry.value().sizes();
        const auto numbers = stored.Get(entry.key(), {shape.data(), shape.size()});
        const at::Tensor got = at::from_blob(const_cast<float*>(numbers.data()), shape);
        EXPECT_TRUE(at::allclose(got, entry.value(), 1e-6, 1e-6)) << entry.key();
      }
      EXPECT_TRUE(stored.Check().ok()) << stored.Check();
    }
  }
}

TEST(StoredWeightsTest, WhatDoesNotFitIsZeroAndNamed) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  const std::vector<double> doubles = {1, 2};
  const std::vector<NamedArray> arrays = {MakeNamedArray("a", absl::MakeConstSpan(numbers), {2, 3}),
                                          MakeNamedArray("b", absl::MakeConstSpan(doubles))};
  const ExperimentConfig config = TinyConfig();
  const StoredWeights stored(config, 1, arrays);
  EXPECT_THAT(stored.Get("a", {2, 3}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(stored.Check().ok());
  EXPECT_THAT(stored.Get("a", {3, 2}), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(stored.Get("b", {2}), ElementsAre(0, 0));
  EXPECT_THAT(stored.Get("c", {1}), ElementsAre(0));
  EXPECT_EQ(stored.Check(), absl::InvalidArgumentError("a: F32 [2, 3], must be F32 [3, 2]\n"
                                                       "b: F64 [2], must be F32 [2]\n"
                                                       "c: missing, must be F32 [1]"));
}

TEST(StoredWeightsTest, AnAdapterOfAnotherRankIsNamed) {
  std::vector<ExperimentConfig> tasks = TasksOf({"a"}, 2);
  TaskWeights weights = WeightsOf(tasks);
  const std::vector<NamedArray> arrays = FileOf(&weights);
  tasks[0].multitask.adapter_rank = 3;
  const StoredWeights stored(tasks[0], 1, arrays);
  const int64_t size = tasks[0].model.embed_dim;
  stored.Get("transformer.block0.qkv.weight", {3 * size, size});
  EXPECT_THAT(std::string(stored.Check().message()),
              testing::HasSubstr("adapter.transformer.block0.qkv.weight.up: not of rank 3"));
}

}  // namespace
}  // namespace lzero::stored_weights_test
