// Writes one sampled position into its row of a TrainBatch: gathers the sequence from its segment
// and those that follow, and fills targets and masks. Chooses nothing but the random actions past
// the end of an episode. Keeps scratch arrays between calls; not thread-safe.
#ifndef LZERO_REPLAY_BATCH_BATCH_WRITER_H_
#define LZERO_REPLAY_BATCH_BATCH_WRITER_H_

#include <cstdint>
#include <vector>

#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/batch/targets.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/batch/window_reader.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/position_index.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {

// The shape of a batch of `num_samples` from such a replay.
BatchShape BatchShapeFor(const ReplayConfig& config, const ReplayShape& shape, int num_samples);

class BatchWriter {
 public:
  BatchWriter(const ReplayConfig& config, const ReplayShape& shape);

  // Writes everything of row `sample`, its targets by `terms`, but its importance weight and
  // handle. `place` is an eligible position whose segment stores replay.num_context_steps or more;
  // `batch` has the shape of BatchShapeFor. Draws an action from `random` for each unroll step past
  // the end of the episode, in order, whatever the terminal mode: one UniformInt(A); box: D times
  // Uniform(), scaled to [-1, 1]; then, with chance, a UniformInt(C) for each unroll step past the
  // end.
  void Write(const PositionIndex::Place& place, int sample, const TargetTerms& terms,
             RandomStream& random, TrainBatch* batch);

 private:
  // Observations, actions and context mask; `num_real` of the unroll steps exist. `observations`
  // [N, C + U + 1, obs] and `bootstraps` [N, U, obs] are all of the batch, in the type that it
  // holds.
  template <typename T>
  void WriteSequence(const PositionIndex::Place& place, int num_real, int sample,
                     RandomStream& random, std::vector<T>& observations, TrainBatch* batch) const;
  void WriteTargets(const PositionIndex::Place& place, int num_real, int sample, TrainBatch* batch);
  template <typename T>
  void WriteValueTargets(const PositionIndex::Place& place, int num_real, int sample,
                         const TargetTerms& terms, std::vector<T>& bootstraps,
                         TrainBatch* batch) const;
  // The same where the target network reads steps before those to bootstrap from.
  template <typename T>
  void WriteBootstrapSequence(const PositionIndex::Place& place, int num_real, int sample,
                              const TargetTerms& terms, std::vector<T>& bootstraps,
                              TrainBatch* batch) const;
  // Targets and masks of the steps past the end.
  void WritePastEnd(int num_real, int sample, RandomStream& random, TrainBatch* batch) const;

  const BatchShape shape_;  // but for num_samples
  const int num_chance_outcomes_;
  const TerminalMode terminal_;
  const ValueTargetRule rule_;
  WindowReader window_reader_;
  StepWindow window_;  // of the row that is written
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_BATCH_WRITER_H_
