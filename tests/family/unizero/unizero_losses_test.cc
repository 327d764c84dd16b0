// Loss terms and their gradients against plain loops in double, hand-checked values of a fresh
// model, what masks must hide, and a fixed batch that is learnt by heart.
#include "lzero/family/unizero/unizero_losses.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/tiny_model.h"
#include "tests/model/batch_view.h"
#include "tests/model/loss_metrics.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::unizero_losses_test {
namespace {

using reference::kNumActions;
using reference::kObservationSize;
using reference::Losses;
using reference::Make;
using reference::RandomBatch;
using reference::ReferenceLosses;
using reference::Row;
using reference::TinyConfig;
using reference::ViewBatch;
using reference::Weights;

struct Case {
  const char* name;
  LatentNorm norm;
  LatentLoss loss;
  int num_samples, num_context_steps, num_unroll_steps;
};

const Case kCases[] = {
    {"MseNoContext", LatentNorm::kLayerNorm, LatentLoss::kMse, 4, 0, 3},
    {"MseContext", LatentNorm::kLayerNorm, LatentLoss::kMse, 5, 3, 2},
    {"GroupKlNoContext", LatentNorm::kSimNorm, LatentLoss::kGroupKl, 3, 0, 4},
    {"GroupKlContext", LatentNorm::kSimNorm, LatentLoss::kGroupKl, 4, 2, 1},
};

// Every weight counts, and no two are alike.
LossConfig OddWeights() { return {7.0, 1.3, 0.6, 0.9, 0.07}; }

class LossCases : public testing::TestWithParam<Case> {
 protected:
  ModelConfig config() const { return TinyConfig(GetParam().norm, GetParam().loss); }
  TrainBatch batch(unsigned seed) const {
    return RandomBatch(GetParam().num_samples, GetParam().num_context_steps,
                       GetParam().num_unroll_steps, seed);
  }
};

INSTANTIATE_TEST_SUITE_P(All, LossCases, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& c) { return c.param.name; });

void ExpectNear(const at::Tensor& actual, double expected, const char* name) {
  EXPECT_NEAR(actual.item<double>(), expected, 2e-5 * std::max(1.0, std::abs(expected))) << name;
}

TEST_P(LossCases, EveryTermMatchesLoops) {
  const std::shared_ptr<WorldModel> model = Make(config(), 1), target = Make(config(), 2);
  for (unsigned seed = 0; seed < 3; ++seed) {
    TrainBatch arrays = batch(seed);
    const LossTerms terms = ComputeLosses(*model, *target, ViewBatch(arrays), OddWeights());
    const Losses expected = ReferenceLosses(config(), reference::WeightsOf(*model),
                                            reference::WeightsOf(*target), arrays, OddWeights());
    ExpectNear(terms.total, expected.total, "total");
    ExpectNear(MetricOf(terms, "loss/latent"), expected.latent, "latent");
    ExpectNear(MetricOf(terms, "loss/reward"), expected.reward, "reward");
    ExpectNear(MetricOf(terms, "loss/value"), expected.value, "value");
    ExpectNear(MetricOf(terms, "loss/policy"), expected.policy, "policy");
    ExpectNear(MetricOf(terms, "policy/entropy"), expected.entropy, "entropy");
    ExpectNear(MetricOf(terms, "value/mean"), expected.value_mean, "value mean");
    EXPECT_LT(reference::RelativeError(terms.value_errors, expected.value_errors), 2e-5);
    EXPECT_EQ(terms.value_errors[0].item<float>(), 0.0f) << "no valid value in the first sample";
    EXPECT_FALSE(MetricOf(terms, "loss/latent").requires_grad());
    EXPECT_TRUE(terms.total.requires_grad());
  }
}

// With enough rows for every kernel: the same loss and the same gradients of all weights as on the
// plain path.
TEST_P(LossCases, KernelsGiveWhatPlainOperationsGive) {
  const std::shared_ptr<WorldModel> model = Make(config(), 1), target = Make(config(), 2);
  TrainBatch arrays = RandomBatch(37, GetParam().num_context_steps, 5, 11);
  const auto run = [&](std::vector<at::Tensor>* gradients) {
    model->zero_grad();
    const LossTerms terms = ComputeLosses(*model, *target, ViewBatch(arrays), OddWeights());
    terms.total.backward();
    for (const at::Tensor& weight : model->parameters())
      gradients->push_back(weight.grad().clone());
    return terms.total.item<double>();
  };
  std::vector<at::Tensor> fused, plain;
  const double loss = run(&fused);
  const PlainPathGuard guard;
  EXPECT_NEAR(run(&plain), loss, 1e-6 * std::abs(loss));
  for (size_t i = 0; i < plain.size(); ++i) {
    const double apart = (fused[i] - plain[i]).norm().item<double>();
    EXPECT_LE(apart, 1e-5 * (plain[i].norm().item<double>() + 1e-3)) << "weight " << i;
  }
}

// Gradient of the sum by automatic differentiation in float32 against central differences of the
// loops in double, at some entries of every parameter.
TEST_P(LossCases, GradientsMatchFiniteDifferences) {
  const std::shared_ptr<WorldModel> model = Make(config(), 1), target = Make(config(), 2);
  TrainBatch arrays = batch(9);
  ComputeLosses(*model, *target, ViewBatch(arrays), OddWeights()).total.backward();
  Weights weights = reference::WeightsOf(*model);
  const Weights target_weights = reference::WeightsOf(*target);
  std::mt19937 random(3);
  for (const auto& item : model->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    const Row gradient = reference::FlatValues(item.value().grad());
    Row& values = weights.at(item.key()).values;
    for (int trial = 0; trial < 2; ++trial) {
      const size_t i = random() % values.size();
      const double value = values[i];
      const double step = 1e-4;
      values[i] = value + step;
      const double above =
          ReferenceLosses(config(), weights, target_weights, arrays, OddWeights()).total;
      values[i] = value - step;
      const double below =
          ReferenceLosses(config(), weights, target_weights, arrays, OddWeights()).total;
      values[i] = value;
      const double expected = (above - below) / (2.0 * step);
      EXPECT_NEAR(gradient[i], expected, 1e-4 + 1e-3 * std::abs(expected))
          << item.key() << " entry " << i;
    }
  }
}

TEST_P(LossCases, NoGradientReachesTheTargetNetwork) {
  const std::shared_ptr<WorldModel> model = Make(config(), 1), target = Make(config(), 2);
  TrainBatch arrays = batch(4);
  const BatchTensors tensors = ViewBatch(arrays);
  EXPECT_FALSE(ComputeValueTargets(*target, tensors).requires_grad());
  ComputeLosses(*model, *target, tensors, OddWeights()).total.backward();
  for (const auto& item : target->named_parameters()) {
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
  }
}

// What a mask hides may hold anything (finite) without changing a bit of the loss.
TEST_P(LossCases, MaskedEntriesDoNotCount) {
  const std::shared_ptr<WorldModel> model = Make(config(), 1), target = Make(config(), 2);
  TrainBatch arrays = batch(5);
  const double before =
      ComputeLosses(*model, *target, ViewBatch(arrays), OddWeights()).total.item<double>();
  for (size_t i = 0; i < arrays.rewards.size(); ++i) {
    if (arrays.reward_mask[i] == 0.0f) arrays.rewards[i] += 3.0f;
    if (arrays.value_mask[i] == 0.0f) arrays.partial_returns[i] -= 7.0f;
    if (arrays.policy_mask[i] != 0.0f) continue;
    for (size_t a = 0; a < kNumActions; ++a) {
      arrays.policies[i * kNumActions + a] = 0.5f;
      arrays.legal_action_masks[i * kNumActions + a] = 0;
    }
  }
  const int context = arrays.num_context_steps, unroll = arrays.num_unroll_steps;
  for (size_t i = 0; i < arrays.context_mask.size(); ++i) {
    if (arrays.context_mask[i] != 0.0f) continue;
    const size_t sample = i / static_cast<size_t>(context), step = i % static_cast<size_t>(context);
    const size_t num_steps = static_cast<size_t>(context + unroll);
    int32_t& action = arrays.actions[sample * num_steps + step];
    action = (action + 1) % kNumActions;
    arrays.observations[(sample * (num_steps + 1) + step) * kObservationSize] += 4.0f;
  }
  const double after =
      ComputeLosses(*model, *target, ViewBatch(arrays), OddWeights()).total.item<double>();
  EXPECT_EQ(after, before);
}

TEST(ComputeLosses, WithoutObservationsToBootstrapFromAsWithScalesOfZero) {
  const ModelConfig config = TinyConfig(LatentNorm::kLayerNorm, LatentLoss::kMse);
  const std::shared_ptr<WorldModel> model = Make(config, 1), target = Make(config, 2);
  TrainBatch arrays = RandomBatch(2, 1, 2, 11);
  std::fill(arrays.bootstrap_scales.begin(), arrays.bootstrap_scales.end(), 0.0f);
  const BatchTensors with = ViewBatch(arrays);
  BatchTensors without = with;
  without.bootstrap_observations = at::Tensor();
  EXPECT_TRUE(at::equal(ComputeValueTargets(*target, without), with.partial_returns));
  EXPECT_TRUE(at::equal(AllMetrics(ComputeLosses(*model, *target, without, OddWeights())),
                        AllMetrics(ComputeLosses(*model, *target, with, OddWeights()))));
}

// Zero last layers: uniform distributions, so every cross-entropy is the log of their size.
TEST(ComputeLosses, FreshModelByHand) {
  ModelConfig config = TinyConfig(LatentNorm::kLayerNorm, LatentLoss::kMse);
  const std::shared_ptr<WorldModel> model =
      *WorldModel::Create(config, {{kObservationSize}, kNumActions}, 0);
  TrainBatch arrays = RandomBatch(1, 0, 2, 12);
  arrays.reward_mask = arrays.value_mask = arrays.policy_mask = {1, 1};
  arrays.latent_mask = {0, 0};
  arrays.importance_weights = {0.5f};
  // Three legal actions, then two: entropies ln 3 and ln 2.
  arrays.legal_action_masks = {1, 1, 0, 1, 0, 1, 1, 0};
  arrays.policies = {0.2f, 0.3f, 0.0f, 0.5f, 0.0f, 1.0f, 0.0f, 0.0f};
  const LossConfig weights = OddWeights();
  const LossTerms terms = ComputeLosses(*model, *model, ViewBatch(arrays), weights);
  const double entropy = (std::log(3.0) + std::log(2.0)) / 2;
  ExpectNear(MetricOf(terms, "loss/latent"), 0.0, "latent");
  ExpectNear(MetricOf(terms, "loss/reward"), std::log(11.0), "reward");
  ExpectNear(MetricOf(terms, "loss/value"), std::log(11.0), "value");
  ExpectNear(MetricOf(terms, "loss/policy"), std::log(4.0), "policy");
  ExpectNear(MetricOf(terms, "policy/entropy"), entropy, "entropy");
  ExpectNear(
      terms.total,
      0.5 * (1.3 * std::log(11.0) + 0.6 * std::log(11.0) + 0.9 * (std::log(4.0) - 0.07 * entropy)),
      "total");
  ExpectNear(MetricOf(terms, "value/mean"), 0.0, "value mean");
}

TEST(ComputeLosses, SpreadAndNormOfLatents) {
  const ModelConfig config = TinyConfig(LatentNorm::kLayerNorm, LatentLoss::kMse);
  const std::shared_ptr<WorldModel> model = Make(config, 1);
  TrainBatch arrays = RandomBatch(3, 0, 2, 13);
  LossTerms terms = ComputeLosses(*model, *model, ViewBatch(arrays), OddWeights());
  // Mean over E of the standard deviation over the N (C + U) inputs, the last observation aside.
  const Weights weights = reference::WeightsOf(*model);
  reference::Rows latents;
  for (const int i : {0, 1, 3, 4, 6, 7}) {
    latents.push_back(reference::Encode(
        config, weights, reference::FloatRow(arrays.observations, i, kObservationSize)));
  }
  double expected = 0.0;
  for (size_t e = 0; e < 16; ++e) {
    double mean = 0.0, square = 0.0;
    for (const Row& latent : latents) mean += latent[e] / 6;
    for (const Row& latent : latents) square += (latent[e] - mean) * (latent[e] - mean) / 6;
    expected += std::sqrt(square) / 16;
  }
  ExpectNear(MetricOf(terms, "latent/spread"), expected, "spread");
  double norm = 0.0;
  for (const Row& latent : latents) {
    double square = 0.0;
    for (const double number : latent) square += number * number;
    norm += std::sqrt(square) / 6;
  }
  ExpectNear(MetricOf(terms, "latent/norm"), norm, "norm");
  std::fill(arrays.observations.begin(), arrays.observations.end(), 0.3f);
  terms = ComputeLosses(*model, *model, ViewBatch(arrays), OddWeights());
  EXPECT_LT(MetricOf(terms, "latent/spread").item<double>(), 1e-6);
  EXPECT_GT(MetricOf(terms, "latent/norm").item<double>(), 0.1);
}

TEST(ComputeLosses, NotANumberInABatchGivesALossThatIsNotANumber) {
  const ModelConfig config = TinyConfig(LatentNorm::kLayerNorm, LatentLoss::kMse);
  const std::shared_ptr<WorldModel> model = Make(config, 1);
  TrainBatch arrays = RandomBatch(3, 0, 2, 14);
  arrays.rewards[4] = std::numeric_limits<float>::quiet_NaN();
  arrays.reward_mask[4] = 1.0f;
  const LossTerms terms = ComputeLosses(*model, *model, ViewBatch(arrays), OddWeights());
  EXPECT_TRUE(std::isnan(terms.total.item<double>()));
  EXPECT_TRUE(std::isnan(MetricOf(terms, "loss/reward").item<double>()));
  EXPECT_FALSE(std::isnan(MetricOf(terms, "loss/value").item<double>()));
}

// The part of the loss that no prediction can remove: entropies of the two-hot and policy targets.
double Irreducible(const ModelConfig& config, const WorldModel& target, const TrainBatch& batch,
                   const LossConfig& loss) {
  const auto entropy = [](const Row& shares) {
    double sum = 0.0;
    for (const double share : shares) sum -= share > 0 ? share * std::log(share) : 0.0;
    return sum;
  };
  const Weights weights = reference::WeightsOf(target);
  const int num_positions = batch.num_samples * batch.num_unroll_steps;
  double sum = 0.0;
  for (int i = 0; i < num_positions; ++i) {
    const double value = reference::ValueTarget(config, weights, batch, i);
    const double reward = batch.rewards[static_cast<size_t>(i)];
    sum += loss.value_weight * entropy(reference::TwoHotTarget(value, config.support_size)) +
           loss.reward_weight * entropy(reference::TwoHotTarget(reward, config.support_size)) +
           loss.policy_weight * entropy(reference::FloatRow(batch.policies, i, kNumActions));
  }
  return sum / num_positions;
}

TEST(ComputeLosses, AFixedBatchIsLearntByHeart) {
  ModelConfig config = TinyConfig(LatentNorm::kLayerNorm, LatentLoss::kMse);
  config.embed_dim = 32;
  config.head_dim = 64;
  config.encoder_width = 64;
  const std::shared_ptr<WorldModel> model = Make(config, 1), target = Make(config, 2);
  TrainBatch arrays = RandomBatch(16, 0, 3, 17);
  for (std::vector<float>* mask :
       {&arrays.reward_mask, &arrays.latent_mask, &arrays.policy_mask, &arrays.value_mask}) {
    std::fill(mask->begin(), mask->end(), 1.0f);
  }
  std::fill(arrays.importance_weights.begin(), arrays.importance_weights.end(), 1.0f);
  LossConfig loss;
  loss.entropy_weight = 0.0;
  const BatchTensors tensors = ViewBatch(arrays);
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(3e-3).weight_decay(0.0));
  const double floor = Irreducible(config, *target, arrays, loss);
  double first = 0.0, last = 0.0;
  for (int update = 0; update < 150; ++update) {
    const LossTerms terms = ComputeLosses(*model, *target, tensors, loss);
    last = terms.total.item<double>() - floor;
    if (update == 0) first = last;
    optimizer.zero_grad();
    terms.total.backward();
    optimizer.step();
  }
  EXPECT_GT(last, -1e-4) << "below what is possible";
  EXPECT_LT(last, 0.1 * first);
}

}  // namespace
}  // namespace lzero::unizero_losses_test
