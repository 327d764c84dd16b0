// Moves the pictures of sampled rows of a TrainBatch by a few pixels: each is padded by repeating
// its border and cropped at a random offset [DrQ, Yarats et al. 2021]. Knows nothing of what the
// pictures show. Const methods may run on any thread while nobody else writes the batch.
#ifndef LZERO_REPLAY_BATCH_SHIFT_AUGMENTER_H_
#define LZERO_REPLAY_BATCH_SHIFT_AUGMENTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/base/rng.h"
#include "lzero/replay/batch/train_batch.h"

namespace lzero {

// Each sample has one offset for what the network reads and one for targets alone (next latents,
// bootstrap observations), with all stacked frames and channels. An offset for each frame would
// hide what moves between two frames (a ball, by some pixels), and no action explains it. Two
// offsets make the latent loss ask for latents that do not depend on them, as EfficientZero V2
// draws them. Where the network reads the whole sequence both are the same: the latents of a
// sequence follow each other.
class ShiftAugmenter {
 public:
  // The new pixel (y, x) is the old one at (y + rows, x + columns), or the nearest to that.
  struct Offset {
    int rows = 0;
    int columns = 0;
  };

  // Pictures [channels, height, width] moved by at most `max_shift` pixels each way; 0: not used.
  // The shape has passed ShiftProblem.
  ShiftAugmenter(const std::vector<int64_t>& observation_shape, int max_shift);

  int max_shift() const { return max_shift_; }

  // Rows and columns uniform over -max_shift .. max_shift: two UniformInt, rows first.
  Offset Draw(RandomStream& random) const;

  // Moves the pictures of row `sample` of the batch: its first `num_inputs` observations by
  // `inputs`, its later ones and bootstrap observations by `targets`.
  void Apply(const Offset& inputs, const Offset& targets, int num_inputs, int sample,
             TrainBatch* batch) const;

 private:
  const int max_shift_;
  int height_ = 0;
  int width_ = 0;
};

// Why observations of this shape cannot be moved by so many pixels; empty when they can.
std::string ShiftProblem(const std::vector<int64_t>& observation_shape, int64_t max_shift);

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_SHIFT_AUGMENTER_H_
