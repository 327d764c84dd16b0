// The stochastic model: sizes worked out beforehand, its two extra terms against plain loops in
// double, and a chance head that learns the frequencies of a biased die.
#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "lzero/run/metric_guide.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/loss_metrics.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::stochastic_muzero_network_test {
namespace {

using reference::Row;
using reference::Weights;

constexpr int kNumOutcomes = 5;
const WorldModelShape kShape{
    {reference::kObservationSize}, reference::kNumActions, 0, kNumOutcomes};

ModelConfig Config() {
  ModelConfig config;
  config.family = Family::kStochasticMuZero;
  config.encoder_width = 10;
  config.embed_dim = 16;
  config.support_size = 11;
  config.head_dim = 12;
  config.latent_loss = LatentLoss::kNone;
  return config;
}

std::shared_ptr<StochasticMuZeroNetwork> Make(uint64_t seed) {
  SetTensorThreads(1);
  auto network = StochasticMuZeroNetwork::Create(Config(), kShape, seed).value();
  reference::Scatter(*network, 0.4, seed);
  return network;
}

TEST(StochasticMuZeroNetwork, CountsItsParametersBeforeItIsMade) {
  EXPECT_EQ(
      StochasticMuZeroNetwork::Create(Config(), kShape, 1, at::kMeta).value()->num_parameters(),
      Make(1)->num_parameters());
  ModelConfig planes = Config();
  planes.encoder = EncoderKind::kBoard;
  planes.encoder_channels = 3;
  const WorldModelShape board{{2, 4, 4}, 4, 0, 32};
  EXPECT_EQ(StochasticMuZeroNetwork::Create(planes, board, 1, at::kMeta).value()->num_parameters(),
            StochasticMuZeroNetwork::Create(planes, board, 1).value()->num_parameters());
}

// norm(s + W2 gelu(N(W1 [s, row of the table] + b1)) + b2), in double.
Row StepBy(const Weights& weights, const char* table, const std::string& step, const Row& latent,
           int row) {
  const ModelConfig config = Config();
  Row joined = latent;
  const auto entry = weights.at(table).values.begin() + row * config.embed_dim;
  joined.insert(joined.end(), entry, entry + config.embed_dim);
  const Row inner = reference::Gelu(reference::LayerNorm(
      weights, step + ".norm", reference::Linear(weights, step + ".first", joined)));
  Row next = reference::Linear(weights, step + ".last", inner);
  reference::AddTo(next, latent);
  return reference::FinalNorm(config, next);
}

// The two terms beside MuZero's, of each of a batch's four samples.
struct ExtraTerms {
  std::array<double, 4> chance = {}, value = {};
};

ExtraTerms ExtraTermsByLoops(const StochasticMuZeroNetwork& network,
                             const StochasticMuZeroNetwork& target, const TrainBatch& batch) {
  const ModelConfig config = Config();
  const Weights weights = reference::WeightsOf(network), targets = reference::WeightsOf(target);
  const int u = batch.num_unroll_steps;
  ExtraTerms terms;
  for (int sample = 0; sample < 4; ++sample) {
    reference::MaskedMean chances, values;
    Row latent = reference::Encode(
        config, weights,
        reference::FloatRow(batch.observations, sample * (u + 1), reference::kObservationSize));
    for (int k = 0; k < u; ++k) {
      const size_t i = static_cast<size_t>(sample * u + k);
      const int outcome = batch.chance_outcomes[i];
      const Row afterstate = StepBy(weights, "action_table", "dynamics", latent, batch.actions[i]);
      const float known = outcome >= 0 ? 1.0f : 0.0f;
      Row truth(kNumOutcomes, 0.0);
      truth[static_cast<size_t>(std::max(0, outcome))] = 1.0;
      chances.Add(
          reference::CrossEntropy(reference::Head(weights, "chance_head.head", afterstate), truth),
          known * batch.policy_mask[i]);
      const Row bootstrap =
          reference::Encode(config, targets,
                            reference::FloatRow(batch.bootstrap_observations, static_cast<int>(i),
                                                reference::kObservationSize));
      const double value_target =
          static_cast<double>(batch.partial_returns[i]) +
          batch.bootstrap_scales[i] *
              reference::DecodeLogits(reference::Head(targets, "value_head.head", bootstrap));
      values.Add(reference::CrossEntropy(
                     reference::Head(weights, "afterstate_value_head.head", afterstate),
                     reference::TwoHotTarget(value_target, config.support_size)),
                 known * batch.value_mask[i]);
      latent = StepBy(weights, "chance_table", "chance_step", afterstate, std::max(0, outcome));
    }
    terms.chance[static_cast<size_t>(sample)] = chances.mean();
    terms.value[static_cast<size_t>(sample)] = values.mean();
  }
  return terms;
}

double MeanOf(const std::array<double, 4>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / 4;
}

TrainBatch ChanceBatch() {
  TrainBatch batch = reference::RandomBatch(4, 0, 3, 9);
  for (int i = 0; i < 12; ++i) batch.chance_outcomes.push_back(i % 6 - 1);
  return batch;
}

BatchTensors ViewChanceBatch(TrainBatch& batch) {
  BatchTensors tensors = reference::ViewBatch(batch);
  tensors.chance_outcomes = torch::tensor(batch.chance_outcomes, at::kInt).view({4, 3});
  return tensors;
}

TEST(StochasticMuZeroNetwork, ExtraTermsAreThoseOfPlainLoops) {
  const auto network = Make(3), target = Make(4);
  TrainBatch batch = ChanceBatch();
  LossConfig loss;
  loss.chance_weight = 0.7;
  const LossTerms terms = network->ComputeLosses(*target, ViewChanceBatch(batch), loss);
  const ExtraTerms expected = ExtraTermsByLoops(*network, *target, batch);
  const double chance = MeanOf(expected.chance), value = MeanOf(expected.value);
  EXPECT_NEAR(MetricOf(terms, "loss/chance").item<double>(), chance, 2e-4 * (1.0 + chance));
  EXPECT_NEAR(MetricOf(terms, "loss/afterstate_value").item<double>(), value, 2e-4 * (1.0 + value));
  for (const LossMetric& metric : terms.metrics) EXPECT_TRUE(IsExplainedMetric(metric.name));
  // The rest of the total is MuZero's, whose named terms tell it where all samples weigh 1.
  std::fill(batch.importance_weights.begin(), batch.importance_weights.end(), 1.0f);
  const LossTerms plain = network->ComputeLosses(*target, ViewChanceBatch(batch), loss);
  const auto metric = [&](const char* name) { return MetricOf(plain, name).item<double>(); };
  const double rest =
      loss.reward_weight * metric("loss/reward") + loss.value_weight * metric("loss/value") +
      loss.policy_weight * (metric("loss/policy") - loss.entropy_weight * metric("policy/entropy"));
  EXPECT_NEAR(plain.total.item<double>(), rest + 0.7 * chance + loss.value_weight * value,
              1e-3 * std::abs(rest));
}

// A sample alone has its own share, twice where it weighs 2; samples that weigh nothing have none.
TEST(StochasticMuZeroNetwork, ImportanceWeightsMultiplyTheExtraTerms) {
  const auto network = Make(3), target = Make(4);
  TrainBatch batch = ChanceBatch();
  const ExtraTerms expected = ExtraTermsByLoops(*network, *target, batch);
  LossConfig chance_alone;
  chance_alone.chance_weight = 0.7;
  chance_alone.value_weight = chance_alone.policy_weight = chance_alone.reward_weight = 0.0;
  chance_alone.latent_weight = chance_alone.entropy_weight = 0.0;
  const LossConfig all;
  for (size_t sample = 0; sample < 4; ++sample) {
    batch.importance_weights.assign(4, 0.0f);
    batch.importance_weights[sample] = 2.0f;
    EXPECT_NEAR(
        network->ComputeLosses(*target, ViewChanceBatch(batch), chance_alone).total.item<double>(),
        0.7 * 2.0 * expected.chance[sample] / 4, 2e-4 * (1.0 + expected.chance[sample]));
  }
  batch.importance_weights.assign(4, 0.0f);
  EXPECT_EQ(network->ComputeLosses(*target, ViewChanceBatch(batch), all).total.item<double>(), 0.0);
}

// A die that shows 0 in half of the steps, 3 in the others, whatever is done.
TEST(StochasticMuZeroNetwork, TheChanceHeadLearnsFrequencies) {
  auto network = StochasticMuZeroNetwork::Create(Config(), kShape, 1).value();
  TrainBatch batch = reference::RandomBatch(16, 0, 2, 3);
  for (int i = 0; i < 32; ++i) batch.chance_outcomes.push_back(i / 2 % 4 == 0 ? 0 : 3);
  std::fill(batch.observations.begin(), batch.observations.end(), 0.5f);
  std::fill(batch.actions.begin(), batch.actions.end(), 1);
  std::fill(batch.policy_mask.begin(), batch.policy_mask.end(), 1.0f);
  std::fill(batch.importance_weights.begin(), batch.importance_weights.end(), 1.0f);
  BatchTensors tensors = reference::ViewBatch(batch);
  tensors.chance_outcomes = torch::tensor(batch.chance_outcomes, at::kInt).view({16, 2});
  LossConfig loss;
  loss.value_weight = loss.policy_weight = loss.reward_weight = 0.0;
  torch::optim::AdamW optimizer(network->parameters(), 1e-2);
  for (int i = 0; i < 300; ++i) {
    optimizer.zero_grad();
    network->ComputeLosses(*network, tensors, loss).total.backward();
    optimizer.step();
  }
  const torch::NoGradGuard no_grad;
  const at::Tensor latents = network->Represent(torch::full({1, 3}, 0.5f));
  const at::Tensor shares =
      at::softmax(network->ChanceLogits(network->Afterstates(latents, torch::tensor({1}))), -1);
  EXPECT_NEAR(shares[0][0].item<float>(), 0.25f, 0.05f);
  EXPECT_NEAR(shares[0][3].item<float>(), 0.75f, 0.05f);
}

}  // namespace
}  // namespace lzero::stochastic_muzero_network_test
