#include "lzero/world_model/update_memory.h"

#include <algorithm>
#include <vector>

#include "lzero/config/encoder_rules.h"

namespace lzero {
namespace {

// Numbers of one sample that are held at once: what every layer keeps, and the largest layer, whose
// gradients come on top.
struct Held {
  double kept = 0;
  double largest = 0;

  void Add(double size, double copies) {
    kept += copies * size;
    largest = std::max(largest, size);
  }
};

// A convolution keeps its input's norm, the norm's output and the activation.
constexpr double kCopiesOfConvolution = 3;
// Gradients of the largest layer: of its output, its norm and its input, and what the convolutions'
// library packs for each.
constexpr double kGradientsOfLargest = 6;

void AddConvolutions(const ModelConfig& model, const PlaneSize& size, int64_t count, Held* held) {
  const auto numbers = static_cast<double>(model.encoder_channels * size.height * size.width);
  for (int64_t i = 0; i < count; ++i) held->Add(numbers, kCopiesOfConvolution);
}

// Of one observation through the encoder; `cells` receives those of the last planes.
Held EncoderHeld(const ModelConfig& model, const WorldModelShape& shape, int64_t* cells) {
  Held held;
  held.kept = static_cast<double>(shape.observation_size());
  *cells = 0;
  if (model.encoder == EncoderKind::kVector) {
    for (int64_t i = 0; i < model.encoder_layers; ++i) {
      held.Add(static_cast<double>(model.encoder_width), kCopiesOfConvolution);
    }
    return held;
  }
  PlaneSize size = {shape.observation_shape[1], shape.observation_shape[2]};
  if (model.encoder == EncoderKind::kBoard) {
    AddConvolutions(model, size, 1, &held);
  } else {
    bool is_stem = true;
    for (const PlaneSize& halved : ImageEncoderSizes(size.height, size.width)) {
      AddConvolutions(model, halved, is_stem ? 1 : 2, &held);
      is_stem = false;
      size = halved;
    }
  }
  AddConvolutions(model, size, 2 * model.encoder_blocks, &held);
  *cells = size.height * size.width;
  return held;
}

// A head's hidden layer with its norm and activation, its logits with their probabilities.
double HeadHeld(const ModelConfig& model, double outputs) {
  return 3.0 * static_cast<double>(model.head_dim.value_or(4 * model.embed_dim)) + 3.0 * outputs;
}

double Total(const Held& held) { return held.kept + kGradientsOfLargest * held.largest; }

int64_t Bytes(double numbers) { return static_cast<int64_t>(numbers * sizeof(float)); }

// One token through the blocks: two norms, queries, keys and values, what attention gives, the four
// times wider hidden layer with its activation, sums; and a weight for each head and token in
// reach.
double TokenHeld(const ModelConfig& model) {
  const auto embed = static_cast<double>(model.embed_dim);
  const auto reach = static_cast<double>(model.num_heads * model.context_length);
  return static_cast<double>(model.num_layers) * (17.0 * embed + 2.0 * reach);
}

}  // namespace

int64_t UniZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  int64_t cells = 0;
  const double encoder = Total(EncoderHeld(model, shape, &cells));
  const auto steps =
      static_cast<double>(config.replay.num_context_steps + config.replay.num_unroll_steps);
  const double heads = HeadHeld(model, static_cast<double>(shape.policy_size())) +
                       2.0 * HeadHeld(model, static_cast<double>(model.support_size)) +
                       HeadHeld(model, static_cast<double>(model.embed_dim));
  const double sample = (steps + 1.0) * encoder + 2.0 * (steps + 1.0) * TokenHeld(model) +
                        (static_cast<double>(config.replay.num_unroll_steps) + 1.0) * heads;
  return Bytes(static_cast<double>(config.train.batch_size) * sample);
}

int64_t MuZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  int64_t cells = 0;
  const double encoder = Total(EncoderHeld(model, shape, &cells));
  Held step;
  if (cells == 0) {
    step.Add(static_cast<double>(model.embed_dim), 6);
    step.Add(static_cast<double>(model.head_dim.value_or(4 * model.embed_dim)), 3);
  } else {
    const auto planes = static_cast<double>(model.encoder_channels * cells);
    step.Add(planes, 6);
    for (int64_t i = 0; i < 2 * model.encoder_blocks; ++i) step.Add(planes, kCopiesOfConvolution);
  }
  const double heads = HeadHeld(model, static_cast<double>(shape.policy_size())) +
                       2.0 * HeadHeld(model, static_cast<double>(model.support_size)) +
                       HeadHeld(model, static_cast<double>(shape.num_chance_outcomes));
  const auto unroll = static_cast<double>(config.replay.num_unroll_steps);
  // The first state is encoded; a latent loss encodes those after it and projects them, chance
  // comes between a state and the next.
  const bool compares = model.latent_loss != LatentLoss::kNone;
  const double sample =
      (compares ? unroll + 1.0 : 1.0) * encoder +
      (compares || shape.num_chance_outcomes > 0 ? 2.0 : 1.0) * unroll * (Total(step) + heads);
  return Bytes(static_cast<double>(config.train.batch_size) * sample);
}

int64_t AlphaZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  int64_t cells = 0;
  const double sample = Total(EncoderHeld(model, shape, &cells)) +
                        4.0 * static_cast<double>(model.embed_dim) +
                        HeadHeld(model, static_cast<double>(shape.num_actions)) +
                        HeadHeld(model, static_cast<double>(model.support_size));
  return Bytes(static_cast<double>(config.train.batch_size * config.replay.num_unroll_steps) *
               sample);
}

}  // namespace lzero
