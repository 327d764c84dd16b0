// The replay buffer: game segments of many environments, an exact index of the positions that may
// be sampled, uniform or prioritised sampling, and n-step value targets (batch/targets.h).
// Internally locked: a collector thread appends while a learner thread samples. The samples depend
// only on the order of the calls and the random stream, not on timing.
#ifndef LZERO_REPLAY_REPLAY_BUFFER_H_
#define LZERO_REPLAY_REPLAY_BUFFER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"
#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/batch/batch_writer.h"
#include "lzero/replay/batch/intensity_augmenter.h"
#include "lzero/replay/batch/shift_augmenter.h"
#include "lzero/replay/batch/symmetry_augmenter.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/replay_store.h"
#include "lzero/replay/stored_root.h"
#include "lzero/replay/transition.h"

namespace lzero {

struct ReplayStats : ReplayStore::Counters {
  int64_t num_transitions = 0;  // stored now
  int64_t num_eligible = 0;     // positions that can be sampled now
  int64_t num_segments = 0;
  int64_t bytes = 0;  // held by segments and index
};

class ReplayBuffer {
 public:
  // InvalidArgument for a setting out of range, and when the smallest useful content does not fit
  // capacity or bytes (see CheckReplayConfig). PlannedBytes says what it may grow to.
  static absl::StatusOr<std::unique_ptr<ReplayBuffer>> Create(const ReplayConfig& config,
                                                              const ReplayShape& shape);

  // Starts an episode of `env` with its first observation [obs] float32, its legal_action_mask [A]
  // uint8 (1 = legal; box: empty) and the player to move. An unfinished episode before it is closed
  // as it stands (its complete positions stay). InvalidArgument (nothing stored), naming the
  // environment and its rule, for an observation that the environment must not give: an element
  // that is not k / 255 where it declares uint8, or stacked frames that differ from those of the
  // step before.
  absl::Status BeginEpisode(EnvId env, absl::Span<const float> observation,
                            absl::Span<const uint8_t> legal_action_mask, int to_play);
  // Adds a transition, shapes as in transition.h, to the episode of `env`; terminated or truncated
  // ends it. What does not fit any more is evicted, oldest finished segment first. InvalidArgument
  // as BeginEpisode. The caller must give the right sizes, an action in range, and an environment
  // with an episode.
  absl::Status Append(EnvId env, const Transition& step);

  // Fills `batch`, shapes as in train_batch.h, with `num_samples` positions, drawn independently
  // and with replacement, each with probability weight / sum of weights: weight 1 for uniform
  // replay, else max(priority, 1e-6)^priority_exponent, a position not sampled yet having the
  // largest priority ever set (at least 1), or its own error, by replay.initial_priority.
  // Importance weights are (num_eligible * probability)^-importance_exponent over the largest of
  // the batch [Schaul et al. 2016], min_importance_weight at least. From `random` it draws first
  // one Uniform() for each sample, then, sample by sample, the actions past the end of an episode,
  // with augment_symmetries the number of the symmetry of which the row is the image, and, with
  // augment_shift and augment_intensity, the offsets and factors of its pictures (Augment).
  // FailedPrecondition (nothing drawn) when no position is eligible. Allocates only when the
  // batch's shape changes.
  absl::Status Sample(int num_samples, RandomStream& random, TrainBatch* batch);
  // Counts as if the last Sample of so many had not been: no learner will see it.
  void TakeBackSample(int num_samples);

  // New `priorities` [n] float32 (finite, >= 0) for sampled `positions` [n]; those recycled
  // meanwhile are left alone. No effect when replay is uniform.
  void UpdatePriorities(absl::Span<const PositionHandle> positions,
                        absl::Span<const float> priorities);

  // Reanalyze: draws `num_positions` of all stored positions with equal probability and with
  // replacement, whether they can be sampled yet or not; none where nothing is stored.
  void DrawPositions(int64_t num_positions, RandomStream& random,
                     std::vector<PositionHandle>* positions) const;
  // Reads `positions` [n] as roots into the first of `roots`, which grows as it needs and keeps its
  // memory; those recycled meanwhile are left out. Returns how many were read.
  int64_t ReadRoots(absl::Span<const PositionHandle> positions,
                    std::vector<StoredRoot>* roots) const;
  // Writes `searches` [n] over the stored ones, except where the position was recycled meanwhile.
  // Priorities stay. Returns how many were written.
  int64_t ReplaceSearches(absl::Span<const NewSearch> searches);

  ReplayStats stats() const;

  // Everything, priorities and unfinished segments included, as arrays named "replay.*"; Import
  // restores it exactly: the same later calls give the same samples. Import ignores other arrays;
  // InvalidArgument (nothing changed) when the arrays do not fit this buffer's settings
  // or contradict each other. Settings that only shape later samples (discount, importance
  // exponent, terminal mode) may differ, and so may max_mebibytes while all fits. Context steps may
  // become fewer, and more as long as no episode has lost the steps that would then be needed.
  std::vector<NamedArray> Export() const;
  // The same without a copy of the large arrays: they come in parts that read the buffer. The
  // caller must write them before it changes the buffer.
  std::vector<NamedArray> ExportInParts() const;
  absl::Status Import(absl::Span<const NamedArray> arrays);

 private:
  ReplayBuffer(const ReplayConfig& config, const ReplayShape& shape);

  // Updates since the network was made or reset, by what was sampled for them in batches of
  // `num_samples`.
  int64_t NumAnnealedUpdates(int num_samples) const;
  // Whether the search of this position is no older than replay.fresh_updates.
  bool IsFresh(const PositionIndex::Place& place, int num_samples) const;
  // Draws by how much row `sample` is moved and made brighter, inputs first, and does it.
  void Augment(int sample, RandomStream& random, TrainBatch* batch) const;

  const ReplayConfig config_;
  const ReplayShape shape_;
  mutable std::mutex mutex_;
  std::unique_ptr<ReplayStore> store_;  // guarded by mutex_
  BatchWriter writer_;                  // guarded by mutex_
  SymmetryAugmenter symmetries_;        // guarded by mutex_
  const ShiftAugmenter shift_;
  const IntensityAugmenter intensity_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_REPLAY_BUFFER_H_
