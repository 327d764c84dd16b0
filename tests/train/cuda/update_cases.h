// Learners of every family and encoder with batches for them, for tests of updates on a device. Not
// a replay buffer; no thread rule.
#ifndef LZERO_TESTS_TRAIN_CUDA_UPDATE_CASES_H_
#define LZERO_TESTS_TRAIN_CUDA_UPDATE_CASES_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "lzero/train/learner.h"
#include "tests/train/train_testing.h"

namespace lzero {

struct UpdateCase {
  const char* name;
  Family family = Family::kUniZero;
  EncoderKind encoder = EncoderKind::kVector;
  std::vector<int64_t> observation = {3};
  ObservationType type = ObservationType::kFloat32;
  int action_dim = 0;
  LatentLoss latent_loss = LatentLoss::kMse;
  int num_context_steps = 0;

  ExperimentConfig Config() const {
    ExperimentConfig config = TinyConfig();
    config.model.family = family;
    config.model.encoder = encoder;
    config.model.encoder_channels = 4;
    config.model.encoder_blocks = 1;
    config.model.latent_loss = latent_loss;
    config.inference.device = Device::kCuda;
    config.inference.graphs = Graphs::kRequired;
    return config;
  }
  WorldModelShape Shape() const {
    const bool has_chance = family == Family::kStochasticMuZero;
    return {observation, action_dim > 0 ? 0 : 4, action_dim, has_chance ? 3 : 0};
  }
  BatchShape Batch() const {
    BatchShape shape = {6,   num_context_steps, 3, 4, static_cast<int>(Shape().observation_size()),
                        type};
    shape.action_dim = action_dim;
    shape.has_chance = family == Family::kStochasticMuZero;
    return shape;
  }
};

inline std::vector<UpdateCase> UpdateCases() {
  using Type = ObservationType;
  return {{"unizero",
           Family::kUniZero,
           EncoderKind::kVector,
           {3},
           Type::kFloat32,
           0,
           LatentLoss::kMse,
           2},
          {"unizero_image", Family::kUniZero, EncoderKind::kImage, {3, 16, 16}, Type::kUint8},
          {"unizero_box", Family::kUniZero, EncoderKind::kVector, {3}, Type::kFloat32, 2},
          {"muzero_image",
           Family::kMuZero,
           EncoderKind::kImage,
           {3, 16, 16},
           Type::kUint8,
           0,
           LatentLoss::kCosine},
          {"muzero", Family::kMuZero},
          {"stochastic_muzero", Family::kStochasticMuZero},
          {"alphazero_board", Family::kAlphaZero, EncoderKind::kBoard, {2, 3, 3}}};
}

// Numbers of the range that belongs in the array.
inline TrainBatch FilledBatch(const BatchShape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  TrainBatch batch;
  batch.Resize(shape);
  VisitArrays(batch, shape, [&](absl::string_view name, auto& array, const ArrayDims&) {
    using Number = typename std::decay_t<decltype(array)>::value_type;
    for (Number& number : array) {
      const auto draw = static_cast<int>(random() % 256);
      if constexpr (!std::is_same_v<Number, float>) {
        const bool is_mask = name == "legal_action_masks";
        number = static_cast<Number>(is_mask                                  ? (draw > 60 ? 1 : 0)
                                     : absl::StrContains(name, "observation") ? draw
                                                                              : draw % 3);
      } else if (absl::EndsWith(name, "mask")) {
        number = draw > 60 ? 1.0f : 0.0f;
      } else if (name == "policies" || name == "importance_weights") {
        number = static_cast<float>(draw) / 512.0f;
      } else {
        number = absl::EndsWith(name, "actions") || name == "action_values"
                     ? std::tanh(normal(random))
                     : normal(random);
      }
    }
  });
  return batch;
}

inline std::unique_ptr<Learner> MakeLearner(const UpdateCase& which,
                                            const ExperimentConfig& config) {
  auto learner = Learner::Create(config, which.Shape());
  EXPECT_TRUE(learner.ok()) << learner.status();
  return std::move(learner).value();
}

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_CUDA_UPDATE_CASES_H_
