// One update: what it changes, by how much, and that a bad one changes nothing.
#include "lzero/train/learner.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "ATen/record_function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::learner_test {
namespace {

using reference::RandomBatch;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kNumSamples = 5;
constexpr int kNumUnroll = 3;
constexpr double kLearningRate = 0.01;

WorldModelShape Shape() { return {{reference::kObservationSize}, reference::kNumActions}; }

std::unique_ptr<Learner> MakeLearner(const ExperimentConfig& config = TinyConfig()) {
  SetTensorThreads(1);
  auto learner = Learner::Create(config, Shape());
  EXPECT_TRUE(learner.ok()) << learner.status();
  return std::move(learner).value();
}

TrainBatch Batch(unsigned seed) { return RandomBatch(kNumSamples, 1, kNumUnroll, seed); }

void Update(Learner& learner, TrainBatch batch, std::vector<float>* priorities = nullptr) {
  const absl::Status status = learner.Update(batch, kLearningRate, priorities);
  ASSERT_TRUE(status.ok()) << status;
}

TEST(LearnerTest, TheTargetBeginsEqualAndFollowsByAFixedFraction) {
  ExperimentConfig config = TinyConfig();
  config.train.target_update_rate = 0.125;
  const auto learner = MakeLearner(config);
  EXPECT_EQ(WeightsOf(learner->target()), WeightsOf(learner->model()));
  for (int update = 0; update < 4; ++update) {
    const auto before = WeightsOf(learner->target());
    const auto model_before = WeightsOf(learner->model());
    Update(*learner, Batch(update));
    const auto model = WeightsOf(learner->model());
    const auto target = WeightsOf(learner->target());
    EXPECT_NE(model, model_before);
    for (size_t i = 0; i < target.size(); ++i) {
      for (size_t k = 0; k < target[i].size(); ++k) {
        const double expected = before[i][k] + 0.125 * (model[i][k] - before[i][k]);
        ASSERT_NEAR(target[i][k], expected, 1e-7 * std::max(1.0, std::abs(expected)));
      }
    }
  }
  EXPECT_EQ(learner->num_updates(), 4);
}

TEST(LearnerTest, TheTargetTakesNoGradients) {
  const auto learner = MakeLearner();
  Update(*learner, Batch(1));
  for (const at::Tensor& parameter : learner->target().parameters()) {
    EXPECT_FALSE(parameter.requires_grad());
    EXPECT_FALSE(parameter.grad().defined());
  }
}

TEST(LearnerTest, LearnsABatchByHeart) {
  const auto learner = MakeLearner();
  Update(*learner, Batch(3));
  const double first = learner->ReadMetrics()["loss/total"];
  for (int update = 0; update < 60; ++update) Update(*learner, Batch(3));
  learner->ReadMetrics();
  Update(*learner, Batch(3));
  EXPECT_LT(learner->ReadMetrics()["loss/total"], 0.7 * first);
}

TEST(LearnerTest, DependsOnConfigSeedAndBatchesAlone) {
  const auto one = MakeLearner(), two = MakeLearner();
  ExpectSameBytes(two->Export(), one->Export());
  for (int update = 0; update < 5; ++update) {
    Update(*one, Batch(update));
    torch::manual_seed(update);  // whoever else draws random numbers
    Update(*two, Batch(update));
  }
  ExpectSameBytes(two->Export(), one->Export());
  EXPECT_EQ(one->ReadMetrics(), two->ReadMetrics());
  ExperimentConfig config = TinyConfig();
  config.seed = 6;
  EXPECT_NE(WeightsOf(MakeLearner(config)->model()), WeightsOf(MakeLearner()->model()));
}

TEST(LearnerTest, AStepOfSizeZeroLeavesTheWeights) {
  const auto learner = MakeLearner();
  const auto before = WeightsOf(learner->model());
  TrainBatch batch = Batch(1);
  ASSERT_TRUE(learner->Update(batch, 0.0, nullptr).ok());
  EXPECT_EQ(WeightsOf(learner->model()), before);
  EXPECT_EQ(learner->num_updates(), 1);
}

// Bad batches: their flaw, and how the message begins.
struct BadBatch {
  const char* name;
  std::function<void(TrainBatch&)> damage;
  const char* message;
};

std::vector<BadBatch> BadBatches() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return {
      {"reward",
       [=](TrainBatch& batch) {
         batch.rewards[1] = nan;
         batch.reward_mask[1] = 1.0f;
       },
       "the loss of update 3 is "},
      {"observation", [=](TrainBatch& batch) { batch.observations[0] = infinity; },
       "the loss of update 3 is "},
      {"importance weight", [=](TrainBatch& batch) { batch.importance_weights[0] = infinity; },
       "the loss of update 3 is "},
      {"gradient",
       [](TrainBatch& batch) {  // finite loss; the squares of its gradients are not
         for (float& weight : batch.importance_weights) weight = 1e30f;
       },
       "the gradient norm of update 3 is "},
      {"return",
       [=](TrainBatch& batch) {
         batch.partial_returns.back() = infinity;
         batch.value_mask.back() = 1.0f;
       },
       "the loss of update 3 is "},
  };
}

TEST(LearnerTest, ABadUpdateIsAbortedAndChangesNothing) {
  for (const BadBatch& bad : BadBatches()) {
    const auto learner = MakeLearner(), undisturbed = MakeLearner();
    for (Learner* each : {learner.get(), undisturbed.get()}) {
      Update(*each, Batch(1));
      Update(*each, Batch(2));
    }
    TrainBatch batch = Batch(3);
    bad.damage(batch);
    std::vector<float> priorities = {7.0f};
    const absl::Status status = learner->Update(batch, kLearningRate, &priorities);
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << bad.name;
    EXPECT_THAT(std::string(status.message()), testing::StartsWith(bad.message)) << bad.name;
    EXPECT_EQ(priorities, std::vector<float>({7.0f})) << bad.name;
    EXPECT_EQ(learner->num_updates(), 2) << bad.name;
    ExpectSameBytes(learner->Export(), undisturbed->Export());
    // Nothing of it is left behind for the next update either.
    Update(*learner, Batch(4));
    Update(*undisturbed, Batch(4));
    ExpectSameBytes(learner->Export(), undisturbed->Export());
    EXPECT_EQ(learner->ReadMetrics(), undisturbed->ReadMetrics()) << bad.name;
  }
}

std::atomic<int> num_host_reads = 0;

// Whether an operation brings numbers to the host, or takes a tensor to another device (cpu()).
bool ReadsOnTheHost(const at::RecordFunction& function) {
  const std::string name = function.name();
  for (const char* read : {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero",
                           "aten::nonzero", "aten::equal", "aten::masked_select"}) {
    if (name == read) return true;
  }
  // to(type) stays where it is; the other overloads name a device.
  const auto operation = function.operator_name();
  return name == "aten::to" && operation.has_value() && operation->overload_name != "dtype";
}

struct InOptimizer : at::ObserverContext {};
thread_local bool in_optimizer = false;

// The optimiser's own reads are those of its kernel for the CPU, which has the counts of its steps
// there.
std::unique_ptr<at::ObserverContext> CountHostReads(const at::RecordFunction& function) {
  if (std::string(function.name()) == "aten::_fused_adamw_") {
    in_optimizer = true;
    return std::make_unique<InOptimizer>();
  }
  if (!in_optimizer && ReadsOnTheHost(function)) ++num_host_reads;
  return nullptr;
}

void LeaveOptimizer(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) in_optimizer = false;
}

int CountReadsOf(const std::function<void()>& run) {
  const auto handle =
      at::addGlobalCallback(at::RecordFunctionCallback(CountHostReads, LeaveOptimizer));
  num_host_reads = 0;
  run();
  at::removeCallback(handle);
  return num_host_reads;
}

// On the path that every device takes: an update asks for everything and waits for no number, but
// for its one read at the end (a copy, which is none of these operations).
TEST(LearnerTest, AnUpdateReadsNoNumberOnTheWay) {
  const auto learner = MakeLearner();
  EXPECT_GT(CountReadsOf([] { at::ones({}).item<float>(); }), 0) << "the count works";
  EXPECT_GT(CountReadsOf([] { at::ones({}).cpu(); }), 0) << "the count works";
  const auto update = [&] {
    const PlainPathGuard guard;
    std::vector<float> priorities;
    Update(*learner, Batch(1), &priorities);
  };
  update();  // brings tables for this length of sequences to the device
  EXPECT_EQ(CountReadsOf(update), 0);
}

TEST(LearnerTest, MetricsAreMeansSinceTheyWereRead) {
  const auto learner = MakeLearner(), one_by_one = MakeLearner();
  std::vector<MetricMap> single;
  for (int update = 0; update < 3; ++update) {
    TrainBatch batch = Batch(update);
    batch.mean_age = 10.0 * update + 1.0;
    ASSERT_TRUE(learner->Update(batch, 0.001 * (update + 1), nullptr).ok());
    ASSERT_TRUE(one_by_one->Update(batch, 0.001 * (update + 1), nullptr).ok());
    single.push_back(one_by_one->ReadMetrics());
  }
  const MetricMap means = learner->ReadMetrics();
  ASSERT_EQ(means.size(), single[0].size());
  for (const auto& [name, mean] : means) {
    const double expected = (single[0][name] + single[1][name] + single[2][name]) / 3.0;
    EXPECT_NEAR(mean, expected, 1e-12 * std::max(1.0, std::abs(expected))) << name;
  }
  EXPECT_NEAR(means.at("train/learning_rate"), 0.002, 1e-15);
  EXPECT_NEAR(means.at("replay/age"), 11.0, 1e-12);
  for (const char* name :
       {"loss/total", "loss/latent", "loss/reward", "loss/value", "loss/policy", "policy/entropy",
        "value/mean", "value/error", "latent/spread", "latent/norm", "grad/norm", "grad/clipped"}) {
    EXPECT_TRUE(means.contains(name)) << name;
  }
  EXPECT_THAT(learner->ReadMetrics(), IsEmpty());
}

TEST(LearnerTest, CountsTheUpdatesWhoseGradientIsClipped) {
  for (const auto& [grad_clip, expected] : {std::pair(1e-3, 1.0), std::pair(1e6, 0.0)}) {
    ExperimentConfig config = TinyConfig();
    config.train.grad_clip = grad_clip;
    const auto learner = MakeLearner(config);
    for (int update = 0; update < 3; ++update) Update(*learner, Batch(update));
    EXPECT_EQ(learner->ReadMetrics()["grad/clipped"], expected);
  }
}

// Fresh value heads predict 0 everywhere, and so does the target: errors are those of the returns.
TEST(LearnerTest, PrioritiesAreTheMeanValueErrorOfEachSample) {
  const auto learner = MakeLearner();
  TrainBatch batch = Batch(8);
  std::vector<float> priorities;
  Update(*learner, batch, &priorities);
  ASSERT_EQ(priorities.size(), static_cast<size_t>(kNumSamples));
  double sum = 0.0;
  for (int n = 0; n < kNumSamples; ++n) {
    double errors = 0.0, valid = 0.0;
    for (int u = 0; u < kNumUnroll; ++u) {
      const double mask = batch.value_mask[n * kNumUnroll + u];
      errors += mask * std::abs(static_cast<double>(batch.partial_returns[n * kNumUnroll + u]));
      valid += mask;
    }
    const double expected = valid > 0.0 ? errors / valid : 0.0;
    EXPECT_NEAR(priorities[n], expected + 1e-6, 1e-5 * (1.0 + expected)) << n;
    EXPECT_GT(priorities[n], 0.0f) << n;
    sum += expected;
  }
  EXPECT_EQ(priorities[0], 1e-6f);  // no valid value in the first sample
  EXPECT_NEAR(learner->ReadMetrics()["value/error"], sum / kNumSamples, 1e-4);
}

// The same after the heads have learned something: a sample's error does not depend on the others.
TEST(LearnerTest, PrioritiesOfABatchAreThoseOfItsSamplesAlone) {
  const auto learner = MakeLearner();
  for (int update = 0; update < 10; ++update) Update(*learner, Batch(update));
  const ArrayFiles weights = learner->Export();
  const TrainBatch whole = RandomBatch(2, 0, kNumUnroll, 70);
  std::vector<float> together;
  Update(*learner, whole, &together);
  // A batch of twice the second sample.
  TrainBatch twice = whole;
  const auto repeat = [](auto& values) {
    const size_t half = values.size() / 2;
    std::copy(values.begin() + half, values.end(), values.begin());
  };
  repeat(twice.observations);
  repeat(twice.actions);
  repeat(twice.value_mask);
  repeat(twice.partial_returns);
  repeat(twice.bootstrap_scales);
  repeat(twice.bootstrap_observations);
  ASSERT_TRUE(learner->Import(weights, 10).ok());
  std::vector<float> alone;
  Update(*learner, twice, &alone);
  EXPECT_NEAR(alone[0], together[1], 1e-5 * (1.0 + together[1]));
  EXPECT_NEAR(alone[1], together[1], 1e-5 * (1.0 + together[1]));
}

TEST(LearnerTest, AnImportedLearnerGoesOnExactly) {
  for (const double dropout : {0.0, 0.25}) {
    ExperimentConfig config = TinyConfig();
    config.model.dropout = dropout;
    const auto straight = MakeLearner(config), restored = MakeLearner(config);
    for (int update = 0; update < 4; ++update) Update(*straight, Batch(update));
    Update(*restored, Batch(50));  // something that the import must replace
    const ArrayFiles files = straight->Export();
    ASSERT_EQ(files.size(), 3u);
    ASSERT_TRUE(restored->Import(files, straight->num_updates()).ok());
    EXPECT_EQ(restored->num_updates(), 4);
    ExpectSameBytes(restored->Export(), files);
    for (int update = 4; update < 8; ++update) Update(*straight, Batch(update));
    for (int update = 4; update < 8; ++update) Update(*restored, Batch(update));
    ExpectSameBytes(restored->Export(), straight->Export());
  }
}

TEST(LearnerTest, DropoutChangesWhatIsLearned) {
  ExperimentConfig config = TinyConfig();
  config.model.dropout = 0.25;
  const auto with = MakeLearner(config), without = MakeLearner();
  EXPECT_EQ(WeightsOf(with->model()), WeightsOf(without->model()));
  Update(*with, Batch(1));
  Update(*without, Batch(1));
  EXPECT_NE(WeightsOf(with->model()), WeightsOf(without->model()));
}

TEST(LearnerTest, ImportOfAnotherArchitectureListsTheDifferencesAndChangesNothing) {
  ExperimentConfig wider = TinyConfig();
  wider.model.embed_dim = 16;
  wider.model.num_layers = 2;
  const auto learner = MakeLearner(), other = MakeLearner(wider);
  Update(*learner, Batch(1));
  const ArrayFiles before = learner->Export();
  const absl::Status status = learner->Import(other->Export(), 99);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("action_embedding: expected Float [4, 8], got Float [4, 16]"));
  EXPECT_THAT(message, HasSubstr("transformer.block1.projection.weight: not expected"));
  EXPECT_GT(std::count(message.begin(), message.end(), '\n'), 20);
  EXPECT_EQ(learner->num_updates(), 1);
  ExpectSameBytes(learner->Export(), before);

  const absl::Status reverse = other->Import(before, 1);
  EXPECT_THAT(std::string(reverse.message()),
              HasSubstr("transformer.block1.projection.weight: missing, expected Float"));
}

TEST(LearnerTest, ImportChecksAllFilesBeforeItWritesTheFirst) {
  const auto learner = MakeLearner(), trained = MakeLearner();
  Update(*trained, Batch(1));
  const ArrayFiles good = trained->Export(), before = learner->Export();
  for (const char* name : {"model", "target", "optimizer"}) {
    ArrayFiles missing = good;
    missing.erase(name);
    const absl::Status not_found = learner->Import(missing, 1);
    EXPECT_EQ(not_found.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(not_found.message(), std::string("the checkpoint has no ") + name + ".safetensors");
    ArrayFiles damaged = good;
    damaged[name].pop_back();
    const absl::Status status = learner->Import(damaged, 1);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(good.at(name).back().name));
    ExpectSameBytes(learner->Export(), before);
  }
  EXPECT_EQ(learner->num_updates(), 0);
  EXPECT_TRUE(learner->Import(good, 1).ok());
}

TEST(LearnerTest, AnEncoderThatDoesNotFitIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.model.encoder = EncoderKind::kBoard;
  const auto learner = Learner::Create(config, Shape());
  EXPECT_EQ(learner.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(learner.status().message()), HasSubstr("model.encoder: board"));
}

}  // namespace
}  // namespace lzero::learner_test
