// A slow second implementation of the world model with a vector encoder and of its losses: plain
// loops in double, written from the equations of UniZero [arXiv 2406.10667], sharing no line with
// the models. Used by tests only; no thread rule.
#ifndef LZERO_TESTS_MODEL_REFERENCE_MODEL_H_
#define LZERO_TESTS_MODEL_REFERENCE_MODEL_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lzero/config/experiment_config.h"
#include "lzero/replay/batch/train_batch.h"
#include "tests/nn/reference.h"

namespace lzero::reference {

inline Row FinalNorm(const ModelConfig& config, const Row& x) {
  if (config.latent_norm == LatentNorm::kLayerNorm) return Normalize(x);
  Row y;
  const size_t group = static_cast<size_t>(config.sim_norm_group);
  for (size_t first = 0; first < x.size(); first += group) {
    const Row part = Softmax(Slice(x, first, group));
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

inline Row Encode(const ModelConfig& config, const Weights& weights, Row x) {
  for (int64_t i = 0; i < config.encoder_layers; ++i) {
    const std::string index = std::to_string(i);
    x = Linear(weights, "encoder.hidden" + index, x);
    x = Gelu(LayerNorm(weights, "encoder.norm" + index, x));
  }
  return FinalNorm(config, Linear(weights, "encoder.last", x));
}

inline Row EmbedAction(const ModelConfig& config, const Weights& weights, int action) {
  const size_t size = static_cast<size_t>(config.embed_dim);
  return Slice(weights.at("action_embedding").values, static_cast<size_t>(action) * size, size);
}

inline TransformerShape ShapeOf(const ModelConfig& config) {
  return {config.num_layers, config.num_heads, config.context_length};
}

inline double Squash(double x) {
  return (x < 0 ? -1.0 : 1.0) * (std::sqrt(std::abs(x) + 1.0) - 1.0) + 0.001 * x;
}

// The textbook inverse of Squash [MuZero App. F].
inline double Unsquash(double y) {
  const double root = (std::sqrt(1.0 + 0.004 * (std::abs(y) + 1.001)) - 1.0) / 0.002;
  return (y < 0 ? -1.0 : 1.0) * (root * root - 1.0);
}

// Probabilities of the atoms -K .. K for a scalar.
inline Row TwoHotTarget(double value, int64_t support_size) {
  const double limit = static_cast<double>(support_size - 1) / 2;
  const double position = std::clamp(Squash(value), -limit, limit) + limit;
  Row target(static_cast<size_t>(support_size), 0.0);
  const size_t lower = static_cast<size_t>(std::floor(position));
  const double share = position - std::floor(position);
  target[lower] += 1.0 - share;
  if (share > 0) target[lower + 1] += share;
  return target;
}

inline double DecodeLogits(const Row& logits) {
  const Row shares = Softmax(logits);
  double mean = 0.0;
  for (size_t i = 0; i < shares.size(); ++i) {
    mean += shares[i] * (static_cast<double>(i) - static_cast<double>(shares.size() - 1) / 2);
  }
  return Unsquash(mean);
}

inline double CrossEntropy(const Row& logits, const Row& target) {
  const Row shares = Softmax(logits);
  double loss = 0.0;
  for (size_t i = 0; i < shares.size(); ++i) loss -= target[i] * std::log(shares[i]);
  return loss;
}

// -sum p log p over the legal actions, p the softmax over them alone.
inline double LegalEntropy(const Row& logits, const uint8_t* legal) {
  Row kept;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (legal[i]) kept.push_back(logits[i]);
  }
  double entropy = 0.0;
  for (const double share : Softmax(kept)) entropy -= share * std::log(share);
  return entropy;
}

// Mean squared error over E, or the mean over groups of KL(target || predicted).
inline double LatentLossOf(const ModelConfig& config, const Row& predicted, const Row& target) {
  double sum = 0.0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    sum += config.latent_loss == LatentLoss::kMse
               ? (predicted[i] - target[i]) * (predicted[i] - target[i])
               : target[i] * std::log(target[i] / predicted[i]);
  }
  const int64_t count = config.latent_loss == LatentLoss::kMse
                            ? config.embed_dim
                            : config.embed_dim / config.sim_norm_group;
  return sum / static_cast<double>(count);
}

struct Losses {
  double total = 0.0;
  double latent = 0.0, reward = 0.0, value = 0.0, policy = 0.0, entropy = 0.0;
  Row value_errors;  // [N]
  double value_mean = 0.0;
};

inline Row FloatRow(const std::vector<float>& values, int row, int size) {
  const auto begin = values.begin() + static_cast<int64_t>(row) * size;
  return Row(begin, begin + size);
}

// n-step target of position `at` = sample * U + step.
inline double ValueTarget(const ModelConfig& config, const Weights& target_weights,
                          const TrainBatch& batch, int at) {
  const Row latent = Encode(config, target_weights,
                            FloatRow(batch.bootstrap_observations, at, batch.observation_size));
  const Rows outputs = TransformerPass(target_weights, "transformer.", ShapeOf(config), {latent});
  const double value = DecodeLogits(Head(target_weights, "value_head", outputs[0]));
  const size_t i = static_cast<size_t>(at);
  return static_cast<double>(batch.partial_returns[i]) + batch.bootstrap_scales[i] * value;
}

// Sums of one sample over its valid positions, then divided by their number.
class MaskedMean {
 public:
  void Add(double value, float mask) {
    if (mask == 0.0f) return;
    sum_ += value;
    ++count_;
  }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / count_; }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

// Outputs at the real tokens of one sample: context padding is simply left out of the sequence.
inline Rows SampleOutputs(const ModelConfig& config, const Weights& weights,
                          const TrainBatch& batch, int sample) {
  const int num_steps = batch.num_context_steps + batch.num_unroll_steps;
  Rows tokens;
  for (int step = 0; step < num_steps; ++step) {
    const bool padding =
        step < batch.num_context_steps &&
        batch.context_mask[static_cast<size_t>(sample * batch.num_context_steps + step)] == 0.0f;
    if (padding) continue;
    tokens.push_back(Encode(
        config, weights,
        FloatRow(batch.observations, sample * (num_steps + 1) + step, batch.observation_size)));
    tokens.push_back(EmbedAction(config, weights,
                                 batch.actions[static_cast<size_t>(sample * num_steps + step)]));
  }
  const Rows outputs = TransformerPass(weights, "transformer.", ShapeOf(config), tokens);
  return Rows(outputs.end() - 2 * batch.num_unroll_steps, outputs.end());
}

struct SampleMeans {
  MaskedMean latent, reward, value, policy, entropy, value_error, value_mean;
};

inline SampleMeans SampleLosses(const ModelConfig& config, const Weights& weights,
                                const Weights& target_weights, const TrainBatch& batch,
                                int sample) {
  const Rows outputs = SampleOutputs(config, weights, batch, sample);
  const int num_unroll = batch.num_unroll_steps;
  SampleMeans means;
  for (int k = 0; k < num_unroll; ++k) {
    const int at = sample * num_unroll + k;
    const size_t i = static_cast<size_t>(at);
    const Row& observation_token = outputs[static_cast<size_t>(2 * k)];
    const Row& action_token = outputs[static_cast<size_t>(2 * k + 1)];
    const int next =
        sample * (batch.num_context_steps + num_unroll + 1) + batch.num_context_steps + k + 1;
    const Row latent_target =
        Encode(config, target_weights, FloatRow(batch.observations, next, batch.observation_size));
    const Row predicted = FinalNorm(config, Head(weights, "latent_head", action_token));
    means.latent.Add(LatentLossOf(config, predicted, latent_target), batch.latent_mask[i]);
    means.reward.Add(CrossEntropy(Head(weights, "reward_head", action_token),
                                  TwoHotTarget(batch.rewards[i], config.support_size)),
                     batch.reward_mask[i]);
    const double value_target = ValueTarget(config, target_weights, batch, at);
    const Row value_logits = Head(weights, "value_head", observation_token);
    means.value.Add(CrossEntropy(value_logits, TwoHotTarget(value_target, config.support_size)),
                    batch.value_mask[i]);
    means.value_error.Add(std::abs(DecodeLogits(value_logits) - value_target), batch.value_mask[i]);
    means.value_mean.Add(DecodeLogits(value_logits), batch.value_mask[i]);
    const Row policy_logits = Head(weights, "policy_head", observation_token);
    means.policy.Add(CrossEntropy(policy_logits, FloatRow(batch.policies, at, batch.num_actions)),
                     batch.policy_mask[i]);
    if (batch.policy_mask[i] != 0.0f) {
      means.entropy.Add(
          LegalEntropy(policy_logits,
                       &batch.legal_action_masks[i * static_cast<size_t>(batch.num_actions)]),
          batch.policy_mask[i]);
    }
  }
  return means;
}

inline Losses ReferenceLosses(const ModelConfig& config, const Weights& weights,
                              const Weights& target_weights, const TrainBatch& batch,
                              const LossConfig& loss) {
  Losses losses;
  const double share = 1.0 / batch.num_samples;
  for (int sample = 0; sample < batch.num_samples; ++sample) {
    const SampleMeans means = SampleLosses(config, weights, target_weights, batch, sample);
    const double sum =
        loss.latent_weight * means.latent.mean() + loss.reward_weight * means.reward.mean() +
        loss.value_weight * means.value.mean() +
        loss.policy_weight * (means.policy.mean() - loss.entropy_weight * means.entropy.mean());
    losses.total += share * batch.importance_weights[static_cast<size_t>(sample)] * sum;
    losses.latent += share * means.latent.mean();
    losses.reward += share * means.reward.mean();
    losses.value += share * means.value.mean();
    losses.policy += share * means.policy.mean();
    losses.entropy += share * means.entropy.mean();
    losses.value_errors.push_back(means.value_error.mean());
    losses.value_mean += share * means.value_mean.mean();
  }
  return losses;
}

}  // namespace lzero::reference

#endif  // LZERO_TESTS_MODEL_REFERENCE_MODEL_H_
