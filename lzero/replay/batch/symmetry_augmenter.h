// Replaces sampled rows of a TrainBatch by their image under a symmetry of the environment:
// observations, actions, policies and legal masks of the whole sequence alike; rewards, values and
// masks of steps stay. Keeps scratch arrays between calls; not thread-safe.
#ifndef LZERO_REPLAY_BATCH_SYMMETRY_AUGMENTER_H_
#define LZERO_REPLAY_BATCH_SYMMETRY_AUGMENTER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "lzero/base/symmetry.h"
#include "lzero/replay/batch/train_batch.h"

namespace lzero {

class SymmetryAugmenter {
 public:
  explicit SymmetryAugmenter(std::vector<Symmetry> symmetries)
      : symmetries_(std::move(symmetries)) {}

  int64_t num_symmetries() const { return static_cast<int64_t>(symmetries_.size()); }

  // Row `sample` of the batch becomes its image under symmetry number `which`.
  void Apply(int64_t which, int sample, TrainBatch* batch);

 private:
  std::vector<Symmetry> symmetries_;
  std::vector<float> numbers_;
  std::vector<uint8_t> bytes_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_SYMMETRY_AUGMENTER_H_
