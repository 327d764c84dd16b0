// How much memory an update of the learner takes on the way: what the forward pass keeps for the
// backward pass, and the largest gradients. The parts that families share, for their bounds in the
// plan of a run; measured runs stay below (cli.memory, experiments/2026-11-22_pong). Counts float32
// numbers of one sample. Pure arithmetic; no device.
#ifndef LZERO_FAMILY_PACKED_UPDATE_MEMORY_H_
#define LZERO_FAMILY_PACKED_UPDATE_MEMORY_H_

#include <algorithm>
#include <cstdint>

#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"

namespace lzero {

// A convolution keeps what the norm reads and what it gives; on a device, where libtorch makes it,
// the activation, too.
constexpr double kCopiesOfConvolution = 3;

// Numbers that are held at once: what every layer keeps, and the largest layer, whose gradients
// come on top.
struct HeldNumbers {
  double kept = 0;
  double largest = 0;

  void Add(double size, double copies) {
    kept += copies * size;
    largest = std::max(largest, size);
  }
  double Total() const;
};

// One observation through the encoder, which must fit the shape; `cells` receives the cells of its
// last planes, 0 for vectors.
HeldNumbers EncoderHeld(const ModelConfig& model, const WorldModelShape& shape, int64_t* cells);

// Numbers of a head with `outputs` logits: its hidden layer with norm and activation, its logits
// with their probabilities.
double HeadHeld(const ModelConfig& model, int64_t outputs);

// The same of the policy head.
double PolicyHeld(const ModelConfig& model, const WorldModelShape& shape);

inline int64_t HeldBytes(double numbers) { return static_cast<int64_t>(numbers * sizeof(float)); }

}  // namespace lzero

#endif  // LZERO_FAMILY_PACKED_UPDATE_MEMORY_H_
