// Makes the pictures of sampled rows of a TrainBatch a little brighter or darker: every byte of
// one is multiplied by the same factor [DrQ, Yarats et al. 2021, appendix]. Const methods may run
// on any thread while nobody else writes the batch.
#ifndef LZERO_REPLAY_BATCH_INTENSITY_AUGMENTER_H_
#define LZERO_REPLAY_BATCH_INTENSITY_AUGMENTER_H_

#include "lzero/base/rng.h"
#include "lzero/replay/batch/train_batch.h"

namespace lzero {

// A sample has a factor for what the network reads and one for targets alone, as ShiftAugmenter has
// offsets.
class IntensityAugmenter {
 public:
  // Factors 1 + scale * n, n normal and cut at -2 and 2; 0: not used.
  explicit IntensityAugmenter(double scale) : scale_(scale) {}

  double scale() const { return scale_; }

  // One Normal.
  double Draw(RandomStream& random) const;

  // Multiplies the bytes of row `sample` of the batch, rounded and at most 255: those of its first
  // `num_inputs` observations by `inputs`, of its later ones and bootstrap observations by
  // `targets`.
  void Apply(double inputs, double targets, int num_inputs, int sample, TrainBatch* batch) const;

 private:
  const double scale_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_INTENSITY_AUGMENTER_H_
