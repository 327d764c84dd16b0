// AdamW against the formulas of the paper in double, element by element.
#include "lzero/train/update/optimizer.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/train/train_testing.h"

namespace lzero::optimizer_test {
namespace {

using testing::HasSubstr;

constexpr double kEpsilon = 1e-8;

std::shared_ptr<WorldModel> TinyModel(uint64_t seed, int64_t embed_dim = 8) {
  ModelConfig config = TinyConfig().model;
  config.embed_dim = embed_dim;
  auto model = WorldModel::Create(config, {{4}, 2}, seed);
  EXPECT_TRUE(model.ok()) << model.status();
  return std::move(model).value();
}

TrainConfig StrongDecay() {
  TrainConfig config;
  config.weight_decay = 0.1;
  config.beta1 = 0.8;
  config.beta2 = 0.9;
  config.grad_clip = 2.0;
  return config;
}

// Gives every weight a random gradient of about this size.
void SetGradients(WorldModel& model, uint64_t seed, double size) {
  torch::manual_seed(seed);
  for (at::Tensor& parameter : model.parameters()) {
    parameter.mutable_grad() = at::randn_like(parameter).mul_(size).detach();
  }
}

std::vector<std::vector<double>> GradientsOf(const WorldModel& model) {
  std::vector<std::vector<double>> gradients;
  for (const at::Tensor& parameter : model.parameters()) {
    const at::Tensor flat = parameter.grad().contiguous();
    const float* begin = flat.const_data_ptr<float>();
    gradients.emplace_back(begin, begin + flat.numel());
  }
  return gradients;
}

// [Loshchilov and Hutter 2019, algorithm 2], a loop.
class ReferenceAdamW {
 public:
  ReferenceAdamW(const WorldModel& model, const TrainConfig& config)
      : config_(config), weights_(WeightsOf(model)), first_(weights_), second_(weights_) {
    for (const at::Tensor& parameter : model.parameters()) dims_.push_back(parameter.dim());
    for (auto* moments : {&first_, &second_}) {
      for (auto& moment : *moments) std::fill(moment.begin(), moment.end(), 0.0);
    }
  }

  void Step(const std::vector<std::vector<double>>& gradients, double learning_rate) {
    ++step_;
    const double correction1 = 1.0 - std::pow(config_.beta1, step_);
    const double correction2 = 1.0 - std::pow(config_.beta2, step_);
    for (size_t i = 0; i < weights_.size(); ++i) {
      const double decay = dims_[i] >= 2 ? config_.weight_decay : 0.0;
      for (size_t k = 0; k < weights_[i].size(); ++k) {
        const double g = gradients[i][k];
        first_[i][k] = config_.beta1 * first_[i][k] + (1.0 - config_.beta1) * g;
        second_[i][k] = config_.beta2 * second_[i][k] + (1.0 - config_.beta2) * g * g;
        weights_[i][k] -= learning_rate * decay * weights_[i][k];
        weights_[i][k] -= learning_rate * (first_[i][k] / correction1) /
                          (std::sqrt(second_[i][k] / correction2) + kEpsilon);
      }
    }
  }

  const std::vector<std::vector<double>>& weights() const { return weights_; }

 private:
  TrainConfig config_;
  std::vector<std::vector<double>> weights_, first_, second_;
  std::vector<int64_t> dims_;
  int step_ = 0;
};

double LargestDifference(const std::vector<std::vector<double>>& a,
                         const std::vector<std::vector<double>>& b) {
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < a[i].size(); ++k) {
      largest = std::max(largest, std::abs(a[i][k] - b[i][k]));
    }
  }
  return largest;
}

TEST(OptimizerTest, EqualsTheFormulasInDouble) {
  const auto model = TinyModel(1);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  ReferenceAdamW reference(*model, StrongDecay());
  const auto before = WeightsOf(*model);
  for (int step = 0; step < 12; ++step) {
    // Sizes differ from step to step, so that the moments matter.
    SetGradients(*model, 100 + step, step % 3 == 0 ? 3.0 : 0.01);
    const double learning_rate = 0.02 / (1 + step);
    reference.Step(GradientsOf(*model), learning_rate);
    optimizer.Step(learning_rate);
    EXPECT_LE(LargestDifference(WeightsOf(*model), reference.weights()), 2e-6) << "step " << step;
  }
  EXPECT_GT(LargestDifference(WeightsOf(*model), before), 0.01);
}

TEST(OptimizerTest, DecaysOnlyTensorsOfTwoAndMoreDimensions) {
  const auto model = TinyModel(2);
  {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : model->parameters()) parameter.fill_(0.5);
  }
  AdamW optimizer(TaskWeights(model), StrongDecay());
  for (at::Tensor& parameter : model->parameters()) {
    parameter.mutable_grad() = at::zeros_like(parameter).detach();
  }
  optimizer.Step(0.25);
  int num_decayed = 0, num_kept = 0;
  for (const auto& entry : model->named_parameters()) {
    // 0.5 - 0.25 * 0.1 * 0.5 where decay applies.
    const double expected = entry.value().dim() >= 2 ? 0.4875 : 0.5;
    (entry.value().dim() >= 2 ? num_decayed : num_kept) += 1;
    EXPECT_LE((entry.value() - expected).abs().max().item<double>(), 1e-7) << entry.key();
  }
  EXPECT_GT(num_decayed, 0);
  EXPECT_GT(num_kept, 0);
}

// With the first gradient, both corrections cancel the averages: the step is learning_rate * sign.
TEST(OptimizerTest, TheFirstStepHasTheSizeOfTheLearningRate) {
  const auto model = TinyModel(3);
  TrainConfig config = StrongDecay();
  config.weight_decay = 0.0;
  AdamW optimizer(TaskWeights(model), config);
  const auto before = WeightsOf(*model);
  SetGradients(*model, 1, 5.0);
  const auto gradients = GradientsOf(*model);
  optimizer.Step(0.001);
  const auto after = WeightsOf(*model);
  for (size_t i = 0; i < after.size(); ++i) {
    for (size_t k = 0; k < after[i].size(); ++k) {
      const double expected = gradients[i][k] > 0.0 ? -0.001 : 0.001;
      if (std::abs(gradients[i][k]) < 1e-3) continue;
      ASSERT_NEAR(after[i][k] - before[i][k], expected, 2e-7);
    }
  }
}

double NormOf(const std::vector<std::vector<double>>& gradients) {
  double sum = 0.0;
  for (const auto& gradient : gradients) {
    for (const double g : gradient) sum += g * g;
  }
  return std::sqrt(sum);
}

TEST(OptimizerTest, ClipsByTheJointNorm) {
  const auto model = TinyModel(4);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  SetGradients(*model, 5, 3.0);
  const auto before = GradientsOf(*model);
  const double norm = NormOf(before);
  ASSERT_GT(norm, 20.0);
  EXPECT_NEAR(optimizer.ClipGradients().item<double>(), norm, 1e-5 * norm);
  const auto after = GradientsOf(*model);
  EXPECT_NEAR(NormOf(after), 2.0, 1e-4);
  EXPECT_LE(NormOf(after), 2.0 + 1e-5);
  for (size_t i = 0; i < after.size(); ++i) {
    for (size_t k = 0; k < after[i].size(); ++k) {
      ASSERT_NEAR(after[i][k], before[i][k] * 2.0 / norm, 1e-6);
    }
  }
}

TEST(OptimizerTest, LeavesSmallGradientsAsTheyAre) {
  const auto model = TinyModel(4);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  SetGradients(*model, 5, 0.01);
  const auto before = GradientsOf(*model);
  const double norm = NormOf(before);
  ASSERT_LT(norm, 2.0);
  EXPECT_NEAR(optimizer.ClipGradients().item<double>(), norm, 1e-5);
  EXPECT_EQ(GradientsOf(*model), before);
}

TEST(OptimizerTest, TheNormOfGradientsThatAreNotFiniteIsNotFinite) {
  const auto model = TinyModel(4);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    SetGradients(*model, 5, 0.01);
    model->parameters().back().mutable_grad().flatten()[0].fill_(bad);
    EXPECT_FALSE(std::isfinite(optimizer.ClipGradients().item<double>()));
  }
}

TEST(OptimizerDeathTest, AWeightWithoutGradientIsABug) {
  const auto model = TinyModel(4);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  SetGradients(*model, 5, 0.01);
  optimizer.ClearGradients();
  for (const at::Tensor& parameter : model->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
  EXPECT_DEATH(optimizer.Step(0.1), "takes no part in the loss");
}

// A step is left out where `skip` is 1, whatever the gradients hold, and is any other step where it
// is 0.
TEST(OptimizerTest, AStepThatIsLeftOutChangesNothing) {
  const auto model = TinyModel(8), plain = TinyModel(8);
  AdamW optimizer(TaskWeights(model), StrongDecay()),
      undisturbed(TaskWeights(plain), StrongDecay());
  for (int step = 0; step < 3; ++step) {
    SetGradients(*model, step, 1.0);
    SetGradients(*plain, step, 1.0);
    optimizer.Step(0.01, at::zeros({}));
    undisturbed.Step(0.01);
    SetGradients(*model, 50 + step, 1.0);
    model->parameters()[0].mutable_grad().fill_(std::nanf(""));
    model->parameters()[1].mutable_grad().fill_(INFINITY);
    optimizer.Step(0.01, at::ones({}));
    EXPECT_EQ(WeightsOf(*model), WeightsOf(*plain)) << step;
    ExpectSameBytes({{"", optimizer.Export()}}, {{"", undisturbed.Export()}});
  }
}

TEST(OptimizerTest, AnImportedOptimizerGoesOnExactly) {
  const auto straight = TinyModel(6), restored = TinyModel(6);
  AdamW optimizer(TaskWeights(straight), StrongDecay());
  for (int step = 0; step < 5; ++step) {
    SetGradients(*straight, step, 1.0);
    optimizer.Step(0.01);
  }
  restored->CopyWeightsFrom(*straight);
  AdamW other(TaskWeights(restored), StrongDecay());
  SetGradients(*restored, 77, 1.0);
  other.Step(0.0);  // moments and counts that the import must replace
  restored->CopyWeightsFrom(*straight);
  const std::vector<NamedArray> exported = optimizer.Export();
  EXPECT_EQ(exported.size(), 3 * straight->parameters().size());
  ASSERT_TRUE(other.Import(exported).ok());
  ExpectSameBytes({{"", other.Export()}}, {{"", exported}});
  for (int step = 5; step < 10; ++step) {
    SetGradients(*straight, step, 1.0);
    SetGradients(*restored, step, 1.0);
    optimizer.Step(0.01);
    other.Step(0.01);
  }
  EXPECT_EQ(WeightsOf(*restored), WeightsOf(*straight));
  ExpectSameBytes({{"", other.Export()}}, {{"", optimizer.Export()}});
}

TEST(OptimizerTest, ImportNamesEveryTensorThatDoesNotFitAndChangesNothing) {
  const auto model = TinyModel(6);
  AdamW optimizer(TaskWeights(model), StrongDecay());
  SetGradients(*model, 1, 1.0);
  optimizer.Step(0.01);
  const std::vector<NamedArray> before = optimizer.Export();
  std::vector<NamedArray> changed = before;
  changed[0].name = "no_such_weight.exp_avg";
  changed[1].shape = {changed[1].num_elements(), 1};
  const absl::Status status = optimizer.Import(changed);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(before[0].name + ": missing"));
  EXPECT_THAT(message, HasSubstr(before[1].name + ": expected"));
  EXPECT_THAT(message, HasSubstr("no_such_weight.exp_avg: not expected"));
  ExpectSameBytes({{"", optimizer.Export()}}, {{"", before}});
}

TEST(OptimizerTest, ImportFromAnotherArchitectureIsRefused) {
  const auto model = TinyModel(6), wider = TinyModel(6, 16);
  AdamW optimizer(TaskWeights(model), StrongDecay()), other(TaskWeights(wider), StrongDecay());
  const std::vector<NamedArray> before = optimizer.Export();
  const absl::Status status = optimizer.Import(other.Export());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("action_embedding.exp_avg: expected Float [2, 8], got Float [2, 16]"));
  ExpectSameBytes({{"", optimizer.Export()}}, {{"", before}});
}

TEST(OptimizerTest, ALearningRateOnTheDeviceGivesTheSameStep) {
  const auto one = TinyModel(3), two = TinyModel(3);
  AdamW by_host(TaskWeights(one), StrongDecay()), by_device(TaskWeights(two), StrongDecay());
  for (const double learning_rate : {0.5, 0.125}) {
    SetGradients(*one, 5, 1.0);
    SetGradients(*two, 5, 1.0);
    by_host.Step(learning_rate);
    by_device.Step(at::full({}, learning_rate), at::zeros({}));
    EXPECT_EQ(WeightsOf(*two), WeightsOf(*one));
  }
}

}  // namespace
}  // namespace lzero::optimizer_test
