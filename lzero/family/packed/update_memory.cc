#include "lzero/family/packed/update_memory.h"

#include "lzero/config/model/action_places.h"
#include "lzero/config/model/encoder_rules.h"

namespace lzero {
namespace {

// Gradients of the largest layer: of its output, its norm and its input, and as much on the way, as
// libtorch's convolutions take.
constexpr double kGradientsOfLargest = 6;

void AddConvolutions(const ModelConfig& model, const PlaneSize& size, int64_t count,
                     HeldNumbers* held) {
  const auto numbers = static_cast<double>(model.encoder_channels * size.height * size.width);
  for (int64_t i = 0; i < count; ++i) held->Add(numbers, kCopiesOfConvolution);
}

}  // namespace

double HeldNumbers::Total() const { return kept + kGradientsOfLargest * largest; }

HeldNumbers EncoderHeld(const ModelConfig& model, const WorldModelShape& shape, int64_t* cells) {
  HeldNumbers held;
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

double HeadHeld(const ModelConfig& model, int64_t outputs) {
  return 3.0 * static_cast<double>(model.head_units()) + 3.0 * static_cast<double>(outputs);
}

double PolicyHeld(const ModelConfig& model, const WorldModelShape& shape) {
  if (!model.policy_cells) return HeadHeld(model, shape.policy_size());
  const int64_t cells = shape.observation_shape[1] * shape.observation_shape[2];
  return static_cast<double>(cells) *
             HeadHeld(model, CellLogitsOf(shape.action_places, cells).outputs) +
         3.0 * static_cast<double>(shape.num_actions);
}

}  // namespace lzero
