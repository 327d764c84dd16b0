// The network's outputs, losses and gradients against plain loops in double, a fresh network by
// hand, and what does not count.
#include "lzero/family/alphazero/alphazero_network.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "absl/algorithm/container.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/loss_metrics.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::alphazero_network_test {
namespace {

using reference::kNumActions;
using reference::kObservationSize;
using reference::RandomBatch;
using reference::Row;
using reference::ViewBatch;
using reference::Weights;

ModelConfig TinyConfig(LatentNorm norm = LatentNorm::kLayerNorm) {
  ModelConfig config;
  config.encoder_width = 10;
  config.embed_dim = 16;
  config.support_size = 11;
  config.head_dim = 12;
  config.latent_norm = norm;
  config.latent_loss = norm == LatentNorm::kSimNorm ? LatentLoss::kGroupKl : LatentLoss::kMse;
  return config;
}

LossConfig OddWeights() { return {7.0, 1.3, 0.6, 0.9, 0.07}; }

std::shared_ptr<AlphaZeroNetwork> Make(const ModelConfig& config, uint64_t seed) {
  torch::set_num_threads(1);
  auto network = AlphaZeroNetwork::Create(config, {{kObservationSize}, kNumActions}, seed).value();
  reference::Scatter(*network, 0.2, seed + 100);
  return network;
}

struct Expected {
  double total = 0.0, value = 0.0, policy = 0.0, entropy = 0.0, value_mean = 0.0;
  Row value_errors;
};

// Row `at` of the observations that the value or policy of unrolled position (sample, k) reads.
Row Position(const TrainBatch& batch, int sample, int k) {
  const int first = sample * (batch.num_context_steps + batch.num_unroll_steps + 1);
  return reference::FloatRow(batch.observations, first + batch.num_context_steps + k,
                             batch.observation_size);
}

double ValueAt(const ModelConfig& config, const Weights& weights, const Row& observation) {
  const Row latent = reference::Encode(config, weights, observation);
  return reference::DecodeLogits(reference::Head(weights, "value_head", latent));
}

Expected LoopsOverPositions(const ModelConfig& config, const Weights& weights,
                            const Weights& target, const TrainBatch& batch,
                            const LossConfig& loss) {
  Expected sums;
  const double share = 1.0 / batch.num_samples;
  for (int n = 0; n < batch.num_samples; ++n) {
    reference::MaskedMean value, policy, entropy, error, mean;
    for (int k = 0; k < batch.num_unroll_steps; ++k) {
      const int at = n * batch.num_unroll_steps + k;
      const size_t i = static_cast<size_t>(at);
      const Row latent = reference::Encode(config, weights, Position(batch, n, k));
      const Row value_logits = reference::Head(weights, "value_head", latent);
      const Row policy_logits = reference::Head(weights, "policy_head", latent);
      const double value_target =
          batch.partial_returns[i] +
          batch.bootstrap_scales[i] * ValueAt(config, target,
                                              reference::FloatRow(batch.bootstrap_observations, at,
                                                                  batch.observation_size));
      value.Add(reference::CrossEntropy(value_logits,
                                        reference::TwoHotTarget(value_target, config.support_size)),
                batch.value_mask[i]);
      const double predicted = reference::DecodeLogits(value_logits);
      error.Add(std::abs(predicted - value_target), batch.value_mask[i]);
      mean.Add(predicted, batch.value_mask[i]);
      if (batch.policy_mask[i] == 0.0f) continue;
      policy.Add(reference::CrossEntropy(
                     policy_logits, reference::FloatRow(batch.policies, at, batch.num_actions)),
                 1.0f);
      entropy.Add(
          reference::LegalEntropy(policy_logits, &batch.legal_action_masks[i * kNumActions]), 1.0f);
    }
    const double sum = loss.value_weight * value.mean() +
                       loss.policy_weight * (policy.mean() - loss.entropy_weight * entropy.mean());
    sums.total += share * batch.importance_weights[static_cast<size_t>(n)] * sum;
    sums.value += share * value.mean();
    sums.policy += share * policy.mean();
    sums.entropy += share * entropy.mean();
    sums.value_mean += share * mean.mean();
    sums.value_errors.push_back(error.mean());
  }
  return sums;
}

void ExpectNear(const at::Tensor& actual, double expected, const char* name) {
  EXPECT_NEAR(actual.item<double>(), expected, 2e-5 * std::max(1.0, std::abs(expected))) << name;
}

class AlphaZeroNetworkTest : public testing::TestWithParam<LatentNorm> {
 protected:
  ModelConfig config() const { return TinyConfig(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, AlphaZeroNetworkTest,
                         testing::Values(LatentNorm::kLayerNorm, LatentNorm::kSimNorm));

TEST_P(AlphaZeroNetworkTest, EveryTermMatchesLoops) {
  const auto network = Make(config(), 1), target = Make(config(), 2);
  for (unsigned seed = 0; seed < 4; ++seed) {
    TrainBatch batch = RandomBatch(5, static_cast<int>(seed % 2) * 3, 3, seed);
    const LossTerms terms = network->ComputeLosses(*target, ViewBatch(batch), OddWeights());
    const Expected expected =
        LoopsOverPositions(config(), reference::WeightsOf(*network), reference::WeightsOf(*target),
                           batch, OddWeights());
    ExpectNear(terms.total, expected.total, "total");
    ExpectNear(MetricOf(terms, "loss/value"), expected.value, "value");
    ExpectNear(MetricOf(terms, "loss/policy"), expected.policy, "policy");
    ExpectNear(MetricOf(terms, "policy/entropy"), expected.entropy, "entropy");
    ExpectNear(MetricOf(terms, "value/mean"), expected.value_mean, "value mean");
    EXPECT_EQ(MetricOf(terms, "loss/latent").item<float>(), 0.0f);
    EXPECT_EQ(MetricOf(terms, "loss/reward").item<float>(), 0.0f);
    EXPECT_GT(MetricOf(terms, "latent/spread").item<float>(), 0.01f);
    EXPECT_GT(MetricOf(terms, "latent/norm").item<float>(), 0.1f);
    EXPECT_LT(reference::RelativeError(terms.value_errors, expected.value_errors), 2e-5);
    EXPECT_TRUE(terms.total.requires_grad());
    EXPECT_FALSE(AllMetrics(terms).requires_grad());
  }
}

// A fresh head says nothing: whatever the values, each costs log 3.
TEST(AlphaZeroNetwork, ValuesHaveTheirOwnSupport) {
  ModelConfig config = TinyConfig();
  config.value_support = {{"min", "-1"}, {"max", "1"}, {"bins", "3"}};
  const auto network =
      AlphaZeroNetwork::Create(config, {{kObservationSize}, kNumActions}, 1).value();
  TrainBatch batch = RandomBatch(5, 0, 3, 1);
  absl::c_fill(batch.value_mask, 1.0f);
  const LossTerms terms = network->ComputeLosses(*network, ViewBatch(batch), OddWeights());
  ExpectNear(MetricOf(terms, "loss/value"), std::log(3.0), "value");
}

// By automatic differentiation in float32 against central differences of the loops in double.
TEST_P(AlphaZeroNetworkTest, GradientsMatchFiniteDifferences) {
  const auto network = Make(config(), 1), target = Make(config(), 2);
  TrainBatch batch = RandomBatch(4, 0, 3, 9);
  network->ComputeLosses(*target, ViewBatch(batch), OddWeights()).total.backward();
  Weights weights = reference::WeightsOf(*network);
  const Weights target_weights = reference::WeightsOf(*target);
  std::mt19937 random(3);
  const auto total = [&] {
    return LoopsOverPositions(config(), weights, target_weights, batch, OddWeights()).total;
  };
  for (const auto& item : network->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    const Row gradient = reference::FlatValues(item.value().grad());
    Row& values = weights.at(item.key()).values;
    for (int trial = 0; trial < 3; ++trial) {
      const size_t i = random() % values.size();
      const double value = values[i];
      values[i] = value + 1e-4;
      const double above = total();
      values[i] = value - 1e-4;
      const double below = total();
      values[i] = value;
      const double expected = (above - below) / 2e-4;
      EXPECT_NEAR(gradient[i], expected, 1e-4 + 1e-3 * std::abs(expected))
          << item.key() << " entry " << i;
    }
  }
  for (const auto& item : target->named_parameters()) {
    EXPECT_FALSE(item.value().grad().defined()) << item.key();
  }
}

// Rewards, actions, context and the observation behind the last position change no bit, nor do
// their weights.
TEST_P(AlphaZeroNetworkTest, OnlyPositionsAndTheirTargetsCount) {
  const auto network = Make(config(), 1), target = Make(config(), 2);
  TrainBatch batch = RandomBatch(4, 2, 3, 5);
  const double before =
      network->ComputeLosses(*target, ViewBatch(batch), OddWeights()).total.item<double>();
  for (float& reward : batch.rewards) reward = 1e9f;
  for (int32_t& action : batch.actions) action = (action + 1) % kNumActions;
  for (int n = 0; n < 4; ++n) {
    for (const int step : {0, 1, 5}) {  // C 2, U 3
      batch.observations[static_cast<size_t>((n * 6 + step) * kObservationSize)] += 4.0f;
    }
  }
  for (size_t i = 0; i < batch.value_mask.size(); ++i) {
    if (batch.value_mask[i] == 0.0f) batch.partial_returns[i] -= 7.0f;
    if (batch.policy_mask[i] == 0.0f) batch.policies[i * kNumActions] = 0.9f;
  }
  LossConfig weights = OddWeights();
  weights.latent_weight = weights.reward_weight = 1e5;
  EXPECT_EQ(network->ComputeLosses(*target, ViewBatch(batch), weights).total.item<double>(),
            before);
}

TEST(AlphaZeroNetwork, WithoutObservationsToBootstrapFromAsWithScalesOfZero) {
  const auto network = Make(TinyConfig(), 1), target = Make(TinyConfig(), 2);
  TrainBatch batch = RandomBatch(4, 0, 3, 15);
  std::fill(batch.bootstrap_scales.begin(), batch.bootstrap_scales.end(), 0.0f);
  const BatchTensors with = ViewBatch(batch);
  BatchTensors without = with;
  without.bootstrap_observations = at::Tensor();
  EXPECT_TRUE(at::equal(AllMetrics(network->ComputeLosses(*target, without, OddWeights())),
                        AllMetrics(network->ComputeLosses(*target, with, OddWeights()))));
}

// Zero last layers: uniform distributions, values of 0.
TEST(AlphaZeroNetwork, FreshByHand) {
  const ModelConfig config = TinyConfig();
  const auto network =
      AlphaZeroNetwork::Create(config, {{kObservationSize}, kNumActions}, 3).value();
  TrainBatch batch = RandomBatch(1, 0, 2, 12);
  batch.value_mask = batch.policy_mask = {1, 1};
  batch.importance_weights = {0.5f};
  batch.legal_action_masks = {1, 1, 0, 1, 0, 1, 1, 0};  // entropies ln 3 and ln 2
  batch.policies = {0.2f, 0.3f, 0.0f, 0.5f, 0.0f, 1.0f, 0.0f, 0.0f};
  batch.partial_returns = {1.0f, -1.0f};
  const LossTerms terms = network->ComputeLosses(*network, ViewBatch(batch), OddWeights());
  const double entropy = (std::log(3.0) + std::log(2.0)) / 2;
  ExpectNear(MetricOf(terms, "loss/value"), std::log(11.0), "value");
  ExpectNear(MetricOf(terms, "loss/policy"), std::log(4.0), "policy");
  ExpectNear(MetricOf(terms, "policy/entropy"), entropy, "entropy");
  ExpectNear(MetricOf(terms, "value/mean"), 0.0, "value mean");
  ExpectNear(MetricOf(terms, "value/error"), 1.0, "value error");
  ExpectNear(terms.total, 0.5 * (0.6 * std::log(11.0) + 0.9 * (std::log(4.0) - 0.07 * entropy)),
             "total");
}

TEST(AlphaZeroNetwork, ASeedGivesTheSameWeightsAndAnEncoderThatDoesNotFitIsRefused) {
  ModelConfig config = TinyConfig();
  const WorldModelShape shape = {{kObservationSize}, kNumActions};
  const auto weights = [&](uint64_t seed) {
    torch::manual_seed(77);  // whoever else draws random numbers
    return AlphaZeroNetwork::Create(config, shape, seed).value()->parameters().front();
  };
  EXPECT_TRUE(at::equal(weights(1), weights(1)));
  EXPECT_FALSE(at::equal(weights(1), weights(2)));
  config.encoder = EncoderKind::kBoard;
  EXPECT_TRUE(absl::IsInvalidArgument(AlphaZeroNetwork::Create(config, shape, 1).status()));
}

TEST(AlphaZeroNetworkDeathTest, BoxActionsAreOurBug) {
  EXPECT_DEATH((void)AlphaZeroNetwork::Create(TinyConfig(), {{3}, 0, 2}, 1),
               "box actions of 2 numbers");
}

}  // namespace
}  // namespace lzero::alphazero_network_test
