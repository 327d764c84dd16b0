// The MuZero network: sizes worked out beforehand, the losses of vectors against plain loops in
// double, the halved gradient by hand, planes by what must hold for them, and a batch learnt by
// heart.
#include "lzero/model/latent_network.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/latent_testing.h"
#include "tests/model/loss_metrics.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::latent_network_test {
namespace {

using reference::kNumActions;
using reference::kObservationSize;
using reference::kVectorShape;
using reference::Make;
using reference::PlaneConfig;
using reference::Row;
using reference::VectorConfig;
using reference::Weights;

// s' = norm(s + W2 gelu(N(W1 [s, a] + b1)) + b2), in double.
Row NextLatent(const ModelConfig& config, const Weights& weights, const Row& latent, int action) {
  Row joined = latent;
  const auto row = weights.at("action_table").values.begin() + action * config.embed_dim;
  joined.insert(joined.end(), row, row + config.embed_dim);
  const Row inner = reference::Gelu(reference::LayerNorm(
      weights, "dynamics.norm", reference::Linear(weights, "dynamics.first", joined)));
  Row next = reference::Linear(weights, "dynamics.last", inner);
  reference::AddTo(next, latent);
  return reference::FinalNorm(config, next);
}

double Cosine(const Row& a, const Row& b) {
  double dot = 0.0, aa = 0.0, bb = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

double LatentDistance(const ModelConfig& config, const Weights& weights, const Weights& target,
                      const Row& predicted, const Row& observation) {
  if (config.latent_loss == LatentLoss::kNone) return 0.0;
  if (config.latent_loss == LatentLoss::kMse) {
    return reference::LatentLossOf(config, predicted,
                                   reference::Encode(config, target, observation));
  }
  const Row online =
      reference::Linear(weights, "projector", reference::Encode(config, weights, observation));
  const Row guess =
      reference::Head(weights, "predictor", reference::Linear(weights, "projector", predicted));
  return 1.0 - Cosine(guess, online);
}

reference::Losses MuZeroLosses(const ModelConfig& config, const Weights& weights,
                               const Weights& target, const TrainBatch& batch,
                               const LossConfig& loss) {
  reference::Losses losses;
  const int num_unroll = batch.num_unroll_steps;
  for (int sample = 0; sample < batch.num_samples; ++sample) {
    reference::SampleMeans means;
    const int first = sample * (num_unroll + 1);
    Row latent = reference::Encode(
        config, weights, reference::FloatRow(batch.observations, first, kObservationSize));
    for (int k = 0; k < num_unroll; ++k) {
      const size_t i = static_cast<size_t>(sample * num_unroll + k);
      const Row bootstrap = reference::Encode(
          config, target,
          reference::FloatRow(batch.bootstrap_observations, static_cast<int>(i), kObservationSize));
      const double value_target =
          static_cast<double>(batch.partial_returns[i]) +
          batch.bootstrap_scales[i] *
              reference::DecodeLogits(reference::Head(target, "value_head.head", bootstrap));
      const Row value_logits = reference::Head(weights, "value_head.head", latent);
      means.value.Add(reference::CrossEntropy(
                          value_logits, reference::TwoHotTarget(value_target, config.support_size)),
                      batch.value_mask[i]);
      means.value_error.Add(std::abs(reference::DecodeLogits(value_logits) - value_target),
                            batch.value_mask[i]);
      const Row policy_logits = reference::Head(weights, "policy_head.head", latent);
      means.policy.Add(
          reference::CrossEntropy(
              policy_logits, reference::FloatRow(batch.policies, static_cast<int>(i), kNumActions)),
          batch.policy_mask[i]);
      means.entropy.Add(
          reference::LegalEntropy(policy_logits, &batch.legal_action_masks[i * kNumActions]),
          batch.policy_mask[i]);
      latent = NextLatent(config, weights, latent, batch.actions[i]);
      means.reward.Add(
          reference::CrossEntropy(reference::Head(weights, "reward_head.head", latent),
                                  reference::TwoHotTarget(batch.rewards[i], config.support_size)),
          batch.reward_mask[i]);
      const Row observation =
          reference::FloatRow(batch.observations, first + k + 1, kObservationSize);
      means.latent.Add(LatentDistance(config, weights, target, latent, observation),
                       batch.latent_mask[i]);
    }
    const double share = 1.0 / batch.num_samples;
    losses.latent += share * means.latent.mean();
    losses.reward += share * means.reward.mean();
    losses.value += share * means.value.mean();
    losses.policy += share * means.policy.mean();
    losses.entropy += share * means.entropy.mean();
    losses.value_errors.push_back(means.value_error.mean());
    losses.total +=
        share * batch.importance_weights[static_cast<size_t>(sample)] *
        (loss.latent_weight * means.latent.mean() + loss.reward_weight * means.reward.mean() +
         loss.value_weight * means.value.mean() +
         loss.policy_weight * (means.policy.mean() - loss.entropy_weight * means.entropy.mean()));
  }
  return losses;
}

TEST(LatentNetwork, LossesOfVectorsAreThoseOfPlainLoops) {
  for (const LatentLoss loss : {LatentLoss::kNone, LatentLoss::kMse, LatentLoss::kCosine}) {
    const ModelConfig config = VectorConfig(loss);
    const auto network = Make(config, kVectorShape, 3), target = Make(config, kVectorShape, 4);
    TrainBatch batch = reference::RandomBatch(4, 0, 3, 9);
    const LossConfig weights;
    const LossTerms terms = network->ComputeLosses(*target, reference::ViewBatch(batch), weights);
    const reference::Losses expected = MuZeroLosses(config, reference::WeightsOf(*network),
                                                    reference::WeightsOf(*target), batch, weights);
    const auto near = [&](const at::Tensor& number, double value) {
      EXPECT_NEAR(number.item<double>(), value, 2e-4 * (1.0 + std::abs(value)))
          << "latent loss " << static_cast<int>(loss);
    };
    near(MetricOf(terms, "loss/latent"), expected.latent);
    near(MetricOf(terms, "loss/reward"), expected.reward);
    near(MetricOf(terms, "loss/value"), expected.value);
    near(MetricOf(terms, "loss/policy"), expected.policy);
    near(MetricOf(terms, "policy/entropy"), expected.entropy);
    near(terms.total, expected.total);
    for (size_t i = 0; i < expected.value_errors.size(); ++i) {
      EXPECT_NEAR(terms.value_errors[static_cast<int64_t>(i)].item<double>(),
                  expected.value_errors[i], 1e-3 * (1.0 + expected.value_errors[i]));
    }
  }
}

TEST(LatentNetwork, WithoutObservationsToBootstrapFromAsWithScalesOfZero) {
  const ModelConfig config = VectorConfig(LatentLoss::kMse);
  const auto network = Make(config, kVectorShape, 3), target = Make(config, kVectorShape, 4);
  TrainBatch batch = reference::RandomBatch(4, 0, 3, 15);
  std::fill(batch.bootstrap_scales.begin(), batch.bootstrap_scales.end(), 0.0f);
  const BatchTensors with = reference::ViewBatch(batch);
  BatchTensors without = with;
  without.bootstrap_observations = at::Tensor();
  EXPECT_TRUE(at::equal(AllMetrics(network->ComputeLosses(*target, without, LossConfig())),
                        AllMetrics(network->ComputeLosses(*target, with, LossConfig()))));
}

// Only the value of the third state counts: its gradient is whole where the value reads the state,
// and halved on its way from the second step to the first.
TEST(LatentNetwork, GradientsAreHalvedFromStepToStep) {
  const ModelConfig config = VectorConfig(LatentLoss::kNone);
  const auto network = Make(config, kVectorShape, 5);
  TrainBatch batch = reference::RandomBatch(1, 0, 3, 10);
  for (auto* mask : {&batch.reward_mask, &batch.policy_mask, &batch.value_mask}) {
    std::fill(mask->begin(), mask->end(), 0.0f);
  }
  batch.value_mask[2] = 1.0f;
  batch.importance_weights = {1.0f};
  LossConfig weights;
  weights.value_weight = 1.0;
  const BatchTensors tensors = reference::ViewBatch(batch);
  network->ComputeLosses(*network, tensors, weights).total.backward();
  std::map<std::string, at::Tensor> halved;
  for (const auto& weight : network->named_parameters()) {
    if (weight.value().grad().defined()) halved[weight.key()] = weight.value().grad().clone();
    weight.value().mutable_grad() = at::Tensor();
  }
  // The same by hand, the latent between the two steps halving what arrives at it.
  at::Tensor latent = network->Represent(tensors.observations.select(1, 0));
  for (int k = 0; k < 2; ++k) {
    latent = network->NextLatents(latent, tensors.actions.select(1, k));
    if (k == 0) latent.register_hook([](const at::Tensor& gradient) { return gradient * 0.5; });
  }
  const at::Tensor target = [&] {
    const torch::NoGradGuard no_grad;
    const at::Tensor value = network->DecodeValues(
        network->ValueLogits(network->Represent(tensors.bootstrap_observations.flatten(0, 1))));
    return tensors.partial_returns + tensors.bootstrap_scales * value.view({1, 3});
  }();
  const Row two_hot = reference::TwoHotTarget(target[0][2].item<double>(), config.support_size);
  const std::vector<float> shares(two_hot.begin(), two_hot.end());
  const at::Tensor log_shares = at::log_softmax(network->ValueLogits(latent), -1);
  (-(torch::tensor(shares) * log_shares).sum()).backward();
  std::set<std::string> compared;
  for (const auto& weight : network->named_parameters()) {
    const at::Tensor& by_hooks = weight.value().grad();
    if (!by_hooks.defined()) continue;
    EXPECT_TRUE(at::allclose(halved.at(weight.key()), by_hooks, 1e-3, 1e-6)) << weight.key();
    for (const char* part : {"encoder", "dynamics", "value_head"}) {
      const bool is_part = weight.key().rfind(part, 0) == 0;
      if (is_part && by_hooks.abs().max().item<float>() > 0) compared.insert(part);
    }
  }
  EXPECT_EQ(compared.size(), 3u);  // none of the parts is without a gradient
}

TEST(LatentNetwork, PlanesKeepTheirSizeAndReadTheAction) {
  const WorldModelShape board{{3, 6, 7}, 7, 0}, image{{1, 40, 24}, 3, 0};
  for (const auto& [encoder, shape, size] : {std::tuple(EncoderKind::kBoard, board, 4 * 6 * 7),
                                             std::tuple(EncoderKind::kImage, image, 4 * 5 * 3)}) {
    const auto network = Make(PlaneConfig(encoder), shape, 2);
    EXPECT_EQ(network->latent_size(), size);
    const torch::NoGradGuard no_grad;
    const at::Tensor latents = network->Represent(torch::randn({5, shape.observation_size()}));
    EXPECT_EQ(latents.sizes(), at::IntArrayRef({5, size}));
    EXPECT_TRUE(at::allclose(latents.mean(1), torch::zeros({5}), 1e-4, 1e-5));
    const at::Tensor next = network->NextLatents(latents, torch::tensor({0, 1, 2, 0, 1}));
    EXPECT_EQ(next.sizes(), latents.sizes());
    const at::Tensor other = network->NextLatents(latents, torch::tensor({1, 1, 2, 0, 1}));
    EXPECT_FALSE(at::allclose(next[0], other[0], 1e-3, 1e-3));
    EXPECT_TRUE(at::allclose(next[1], other[1], 1e-4, 1e-5));
    EXPECT_EQ(network->PolicyLogits(next).sizes(), at::IntArrayRef({5, shape.num_actions}));
    EXPECT_EQ(network->RewardLogits(next).sizes(), at::IntArrayRef({5, 11}));
  }
}

// Latents of planes have as many groups as they have numbers, whatever embed_dim says.
TEST(LatentNetwork, GroupKlOfPlanesIsTheMeanOverTheirGroups) {
  ModelConfig config = PlaneConfig(EncoderKind::kBoard);
  config.latent_norm = LatentNorm::kSimNorm;
  config.latent_loss = LatentLoss::kGroupKl;
  config.sim_norm_group = 4;
  const WorldModelShape shape{{1, 1, kObservationSize}, kNumActions, 0};
  const auto network = Make(config, shape, 3), target = Make(config, shape, 4);
  constexpr int kSamples = 3;
  TrainBatch batch = reference::RandomBatch(kSamples, 0, 1, 5);
  std::fill(batch.latent_mask.begin(), batch.latent_mask.end(), 1.0f);
  const BatchTensors tensors = reference::ViewBatch(batch);
  const LossTerms terms = network->ComputeLosses(*target, tensors, LossConfig());
  const torch::NoGradGuard no_grad;
  const at::Tensor next = network->NextLatents(
      network->Represent(tensors.observations.select(1, 0)), tensors.actions.select(1, 0));
  const at::Tensor goal = target->Represent(tensors.observations.select(1, 1));
  const int64_t num_groups = network->latent_size() / 4;
  ASSERT_NE(num_groups, config.embed_dim / 4);
  double expected = 0.0;
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int64_t i = 0; i < network->latent_size(); ++i) {
      const double p = goal[sample][i].item<double>(), q = next[sample][i].item<double>();
      expected += p * (std::log(p) - std::log(q)) / static_cast<double>(num_groups * kSamples);
    }
  }
  EXPECT_NEAR(MetricOf(terms, "loss/latent").item<double>(), expected, 1e-4 * expected);
}

}  // namespace
}  // namespace lzero::latent_network_test
