// A training batch of random numbers for tests of the losses: every term has its own masks, some
// actions are illegal, some context is padding. Not a replay buffer; no thread rule.
#ifndef LZERO_TESTS_MODEL_RANDOM_BATCH_H_
#define LZERO_TESTS_MODEL_RANDOM_BATCH_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "lzero/replay/batch/train_batch.h"

namespace lzero::reference {

constexpr int kObservationSize = 3;
constexpr int kNumActions = 4;

inline std::vector<float> Normals(std::mt19937& random, int count, double scale) {
  std::normal_distribution<double> normal(0.0, scale);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(normal(random)));
  return values;
}

inline std::vector<float> Bits(std::mt19937& random, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(random() % 4 == 0 ? 0.0f : 1.0f);
  return values;
}

inline void FillPolicies(std::mt19937& random, TrainBatch& batch) {
  const int num_positions = batch.num_samples * batch.num_unroll_steps;
  for (int i = 0; i < num_positions; ++i) {
    std::vector<double> row;
    double sum = 0.0;
    const int always_legal = static_cast<int>(random() % static_cast<unsigned>(batch.num_actions));
    for (int a = 0; a < batch.num_actions; ++a) {
      const bool legal = a == always_legal || random() % 3 != 0;
      batch.legal_action_masks.push_back(legal ? 1 : 0);
      row.push_back(legal ? 1.0 + static_cast<double>(random() % 9) : 0.0);
      sum += row.back();
    }
    for (const double visits : row) batch.policies.push_back(static_cast<float>(visits / sum));
  }
}

// Random everything; masks differ from term to term; the first sample has no valid value.
inline TrainBatch RandomBatch(int num_samples, int num_context_steps, int num_unroll_steps,
                              unsigned seed, int num_actions = kNumActions,
                              int observation_size = kObservationSize) {
  std::mt19937 random(seed);
  TrainBatch batch;
  batch.num_samples = num_samples;
  batch.num_context_steps = num_context_steps;
  batch.num_unroll_steps = num_unroll_steps;
  batch.num_actions = num_actions;
  batch.observation_size = observation_size;
  const int num_steps = num_context_steps + num_unroll_steps;
  const int num_positions = num_samples * num_unroll_steps;
  batch.observations = Normals(random, num_samples * (num_steps + 1) * observation_size, 1.0);
  for (int i = 0; i < num_samples * num_steps; ++i) {
    batch.actions.push_back(static_cast<int32_t>(random() % static_cast<unsigned>(num_actions)));
  }
  for (int sample = 0; sample < num_samples; ++sample) {
    const int padding = sample % (num_context_steps + 1);
    for (int c = 0; c < num_context_steps; ++c) batch.context_mask.push_back(c < padding ? 0 : 1);
  }
  batch.rewards = Normals(random, num_positions, 5.0);
  batch.reward_mask = Bits(random, num_positions);
  batch.latent_mask = Bits(random, num_positions);
  batch.policy_mask = Bits(random, num_positions);
  batch.value_mask = Bits(random, num_positions);
  std::fill_n(batch.value_mask.begin(), num_unroll_steps, 0.0f);
  FillPolicies(random, batch);
  batch.partial_returns = Normals(random, num_positions, 10.0);
  batch.bootstrap_scales = Normals(random, num_positions, 0.7);
  batch.bootstrap_scales.back() = 0.0f;
  batch.bootstrap_observations = Normals(random, num_positions * observation_size, 1.0);
  std::fill_n(batch.bootstrap_observations.end() - observation_size, observation_size, 0.0f);
  for (int i = 0; i < num_samples; ++i) {
    batch.importance_weights.push_back(0.25f + 0.2f * static_cast<float>(i));
  }
  return batch;
}

}  // namespace lzero::reference

#endif  // LZERO_TESTS_MODEL_RANDOM_BATCH_H_
