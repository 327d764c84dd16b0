// How far a model's imagination is from what really happened, by the number of steps imagined: a
// diagnostic that shows when planning deeper no longer helps, and collapse before it shows in the
// return. All tensors float32 unless said. No gradients; runs some dozens of forward passes, so not
// at every update.
#ifndef LZERO_MODEL_OPEN_LOOP_H_
#define LZERO_MODEL_OPEN_LOOP_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "lzero/model/batch_tensors.h"

namespace lzero {

// The first `count` samples of a batch (all, when there are fewer): views of its tensors, N first.
BatchTensors FirstSamples(const BatchTensors& batch, int64_t count);

// What was imagined and what was real after 1 .. H steps. Axes: N samples, H horizons.
struct Imagined {
  at::Tensor rewards, real_rewards;  // [N, H] of the step that led there
  at::Tensor values, real_values;    // [N, H] of the state, by the same network
  at::Tensor latents, real_latents;  // [N, H, S]
};

// Means over the valid positions of steps that were really played, none past the end of an episode:
// [3, H] float32 of |reward - real|, |value - real|, and the mean squared difference of latents.
// NaN where there is no such position. No gradient.
at::Tensor OpenLoopErrors(const Imagined& imagined, const BatchTensors& batch);

}  // namespace lzero

#endif  // LZERO_MODEL_OPEN_LOOP_H_
