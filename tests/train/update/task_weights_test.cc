// Weights of several tasks in one model: who owns what, what is the same memory, and what becomes
// of the gradients; against networks of one task and plain vectors.
#include "lzero/train/update/task_weights.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/train/train_testing.h"

namespace lzero::task_weights_test {
namespace {

using testing::ElementsAre;

// Tasks as TaskConfigs gives them: observations of 4 and of 3 numbers, 2 and 5 actions.
std::vector<ExperimentConfig> Tasks(const std::vector<std::string>& names, int64_t rank = 0) {
  ExperimentConfig config = TinyConfig();
  config.multitask.adapter_rank = rank;
  for (const std::string& name : names) {
    ExperimentConfig task = config;
    task.name = name;
    config.tasks.push_back(task);
  }
  return TaskConfigs(config);
}

std::vector<WorldModelShape> ShapesOf(size_t num_tasks) {
  std::vector<WorldModelShape> shapes = {{{4}, 2}, {{3}, 5}, {{4}, 3}};
  shapes.resize(num_tasks);
  return shapes;
}

TaskWeights Make(const std::vector<ExperimentConfig>& tasks) {
  auto weights = TaskWeights::Create(tasks, ShapesOf(tasks.size()), /*seed=*/5, at::kCPU);
  EXPECT_TRUE(weights.ok()) << weights.status();
  return *std::move(weights);
}

at::Tensor Find(const TaskWeights& weights, const std::string& name) {
  for (const OwnedWeight& weight : weights.weights()) {
    if (weight.name == name) return weight.tensor;
  }
  ADD_FAILURE() << "no weight " << name;
  return {};
}

at::Tensor ParameterOf(Network& network, const std::string& name) {
  return network.named_parameters()[name];
}

constexpr char kShared[] = "transformer.block0.qkv.weight";
constexpr char kOwn[] = "policy_head.first.weight";

TEST(TaskWeightsTest, AnOnlyTaskHasTheNamesOfItsNetwork) {
  TaskWeights weights = Make(Tasks({"a"}));
  std::vector<std::string> names, expected;
  for (const OwnedWeight& weight : weights.weights()) names.push_back(weight.name);
  for (const auto& entry : weights.view(0).named_parameters()) expected.push_back(entry.key());
  EXPECT_EQ(names, expected);
  EXPECT_EQ(weights.owners().size(), 1u);
}

TEST(TaskWeightsTest, WhatIsSharedIsTheSameMemoryAndTheRestIsNot) {
  TaskWeights weights = Make(Tasks({"a", "b"}));
  const at::Tensor kept = Find(weights, absl::StrCat("shared.", kShared));
  for (size_t task : {0, 1}) {
    EXPECT_EQ(ParameterOf(weights.view(task), kShared).data_ptr(), kept.data_ptr()) << task;
  }
  EXPECT_NE(ParameterOf(weights.view(0), kOwn).data_ptr(),
            ParameterOf(weights.view(1), kOwn).data_ptr());
  std::set<std::string> names;
  int64_t count = 0;
  for (const OwnedWeight& weight : weights.weights()) {
    EXPECT_TRUE(names.insert(weight.name).second) << weight.name;
    count += weight.tensor.numel();
  }
  EXPECT_EQ(CountTaskWeights(Tasks({"a", "b"}), ShapesOf(2))->kept, count);
}

TEST(TaskWeightsTest, FreshWeightsDependOnNoOtherTask) {
  TaskWeights two = Make(Tasks({"a", "b"})), three = Make(Tasks({"a", "b", "c"}));
  for (const OwnedWeight& weight : two.weights()) {
    EXPECT_TRUE(at::equal(weight.tensor, Find(three, weight.name))) << weight.name;
  }
}

TEST(TaskWeightsTest, AnEncoderOfAGroupIsSharedByItsTasks) {
  std::vector<ExperimentConfig> tasks = Tasks({"a", "b", "c"});
  tasks[0].model.encoder_group = tasks[2].model.encoder_group = "poles";  // 4 numbers both
  TaskWeights weights = Make(tasks);
  const std::string name = weights.view(0).named_parameters().keys()[0];
  ASSERT_TRUE(name.starts_with("encoder.") || name.starts_with("action")) << name;
  std::string encoder;
  for (const std::string& key : weights.view(0).named_parameters().keys()) {
    if (key.starts_with("encoder.")) encoder = key;
  }
  const auto memory = [&](size_t task) {
    return ParameterOf(weights.view(task), encoder).data_ptr();
  };
  EXPECT_EQ(memory(0), memory(2));
  EXPECT_NE(memory(0), memory(1));
  EXPECT_NE(ParameterOf(weights.view(0), kOwn).data_ptr(),
            ParameterOf(weights.view(2), kOwn).data_ptr());
}

// Gives every parameter of a view the same gradient.
void FillGradients(Network& network, double value) {
  for (at::Tensor& parameter : network.parameters()) {
    parameter.mutable_grad() = at::full_like(parameter.detach(), value);
  }
}

TEST(TaskWeightsTest, GradientsOfWhatIsSharedAddUp) {
  TaskWeights weights = Make(Tasks({"a", "b"}));
  FillGradients(weights.view(0), 0.5);
  weights.GatherGradients(0);
  FillGradients(weights.view(1), 0.25);
  weights.GatherGradients(1);
  weights.CombineGradients(Balance::kNone);
  for (const OwnedWeight& weight : weights.weights()) {
    const double expected = weight.name.starts_with("shared.")   ? 0.75
                            : weight.name.starts_with("task.a.") ? 0.5
                                                                 : 0.25;
    EXPECT_TRUE(at::equal(weight.tensor.grad(), at::full_like(weight.tensor.detach(), expected)))
        << weight.name;
  }
  EXPECT_FALSE(ParameterOf(weights.view(0), kShared).grad().defined());
}

TEST(TaskWeightsTest, TheProductsAreThoseOfTheSharedParts) {
  TaskWeights weights = Make(Tasks({"a", "b"}));
  double num_shared = 0.0;
  for (const OwnedWeight& weight : weights.weights()) {
    if (weight.name.starts_with("shared."))
      num_shared += static_cast<double>(weight.tensor.numel());
  }
  FillGradients(weights.view(0), 0.5);
  weights.GatherGradients(0);
  FillGradients(weights.view(1), -2.0);
  weights.GatherGradients(1);
  weights.KeepGathered();
  const TaskWeights::Products taken = weights.TakeProducts();
  EXPECT_EQ(taken.tasks, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(weights.TakeProducts().tasks.empty());
  weights.CombineGradients(Balance::kPcGrad);
  const double expected[2][2] = {{0.25, -1.0}, {-1.0, 4.0}};
  for (int i : {0, 1}) {
    for (int j : {0, 1}) {
      EXPECT_NEAR(taken.products[i][j].item<float>(), expected[i][j] * num_shared,
                  1e-3 * num_shared);
    }
  }
  // They point against each other: of neither is anything left.
  const at::Tensor left = Find(weights, absl::StrCat("shared.", kShared)).grad();
  EXPECT_LT(left.abs().max().item<float>(), 1e-6);
}

TEST(TaskWeightsTest, OnlyOwnersOfAnUpdateAreActive) {
  std::vector<ExperimentConfig> tasks = Tasks({"a", "b"});
  const auto names = [](const TaskWeights& weights, std::vector<size_t> of) {
    std::set<std::string> active;
    for (const size_t owner : weights.ActiveOwners(of)) active.insert(weights.owners()[owner]);
    return active;
  };
  const TaskWeights free = Make(tasks);
  EXPECT_EQ(names(free, {1}), (std::set<std::string>{"shared", "b"}));
  EXPECT_EQ(names(free, {0, 1}), (std::set<std::string>{"shared", "a", "b"}));
  for (ExperimentConfig& task : tasks) task.multitask.freeze = {"shared", "a"};
  const TaskWeights frozen = Make(tasks);
  EXPECT_EQ(names(frozen, {1}), (std::set<std::string>{"b"}));
  EXPECT_TRUE(frozen.ActiveOwners({0}).empty());
}

TEST(TaskWeightsTest, AnAdapterIsMergedIntoTheTasksOwnCopy) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"a", "b"}, std::vector<std::string>{"a"}}) {
    const std::vector<ExperimentConfig> tasks = Tasks(names, /*rank=*/2);
    TaskWeights weights = Make(tasks);
    const AdapterNames adapter = AdapterNamesOf(tasks[0], tasks.size(), kShared);
    const at::Tensor base = Find(weights, PlaceOf(tasks[0], tasks.size(), kShared).name);
    EXPECT_TRUE(at::equal(ParameterOf(weights.view(0), kShared), base));  // up is 0 at first
    at::Tensor up = Find(weights, adapter.up), down = Find(weights, adapter.down);
    ASSERT_EQ(up.sizes(), at::IntArrayRef({24, 2}));
    ASSERT_EQ(down.sizes(), at::IntArrayRef({2, 8}));
    up.fill_(0.5);
    weights.OnWritten();
    const at::Tensor merged = ParameterOf(weights.view(0), kShared).detach();
    for (int64_t i : {0, 23}) {
      for (int64_t j : {0, 7}) {
        const double expected =
            base[i][j].item<float>() + 0.5 * (down[0][j].item<float>() + down[1][j].item<float>());
        EXPECT_NEAR(merged[i][j].item<float>(), expected, 1e-6);
      }
    }
    EXPECT_TRUE(at::equal(ParameterOf(weights.view(names.size() - 1), kShared), base) ==
                (names.size() == 2));
    // Gradients: up's is G down^T, down's is up^T G, the shared one G.
    FillGradients(weights.view(0), 2.0);
    weights.GatherGradients(0);
    weights.CombineGradients(Balance::kNone);
    EXPECT_TRUE(at::equal(base.grad(), at::full_like(base, 2.0)));
    EXPECT_NEAR(up.grad()[3][1].item<float>(), 2.0 * down[1].sum().item<float>(), 1e-5);
    EXPECT_NEAR(down.grad()[1][3].item<float>(), 2.0 * 24 * 0.5, 1e-5);
    EXPECT_EQ(CountTaskWeights(tasks, ShapesOf(tasks.size()))->kept, [&] {
      int64_t count = 0;
      for (const OwnedWeight& weight : weights.weights()) count += weight.tensor.numel();
      return count;
    }());
  }
}

using Vector = std::vector<double>;

double Dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<Vector> RandomVectors(std::mt19937& random, size_t count) {
  std::normal_distribution<double> normal;
  std::vector<Vector> vectors(count, Vector(4));
  for (Vector& vector : vectors) {
    for (double& number : vector) number = normal(random);
  }
  return vectors;
}

std::vector<Vector> ProductsOf(const std::vector<Vector>& vectors) {
  std::vector<Vector> products;
  for (const Vector& a : vectors) {
    products.emplace_back();
    for (const Vector& b : vectors) products.back().push_back(Dot(a, b));
  }
  return products;
}

Vector SumOf(const std::vector<Vector>& vectors, const std::vector<double>& factors) {
  Vector sum(vectors[0].size(), 0.0);
  for (size_t i = 0; i < vectors.size(); ++i) {
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += factors[i] * vectors[i][k];
  }
  return sum;
}

// [Yu et al. 2020, algorithm 1] on the vectors themselves, in the order of the tasks.
TEST(BalanceFactorsTest, PcGradProjectsEachGradientOffThoseAgainstIt) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const std::vector<Vector> vectors = RandomVectors(random, 2 + trial % 4);
    Vector expected(4, 0.0);
    for (size_t i = 0; i < vectors.size(); ++i) {
      Vector own = vectors[i];
      for (size_t j = 0; j < vectors.size(); ++j) {
        const double product = Dot(own, vectors[j]);
        if (j == i || product >= 0.0) continue;
        for (size_t k = 0; k < own.size(); ++k) {
          own[k] -= product / Dot(vectors[j], vectors[j]) * vectors[j][k];
        }
      }
      for (size_t k = 0; k < own.size(); ++k) expected[k] += own[k];
    }
    const Vector got = SumOf(vectors, BalanceFactors(Balance::kPcGrad, ProductsOf(vectors)));
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-9);
  }
}

TEST(BalanceFactorsTest, GradNormScalesToTheMedian) {
  const std::vector<Vector> vectors = {{3.0, 4.0}, {0.0, 1.0}, {10.0, 0.0}};  // norms 5, 1, 10
  EXPECT_THAT(BalanceFactors(Balance::kGradNorm, ProductsOf(vectors)), ElementsAre(1.0, 5.0, 0.5));
  EXPECT_THAT(BalanceFactors(Balance::kGradNorm, ProductsOf({{2.0}, {0.0}})),
              ElementsAre(0.5, 1.0));  // a gradient of 0 stays
  EXPECT_THAT(BalanceFactors(Balance::kNone, ProductsOf(vectors)), ElementsAre(1.0, 1.0, 1.0));
}

}  // namespace
}  // namespace lzero::task_weights_test
