// Searches stored positions again with weights of now, so that old policy targets and root values
// in replay follow what has been learned since. [Schrittwieser et al. 2021, MuZero Reanalyze] The
// caller chooses the positions. With the root noise of collecting, as EfficientZero does [Ye et al.
// 2021]: PUCT never visits what the priors have given up, so a search without noise would confirm
// them; and all targets stay of one kind. Has a model and an agent of its own. Used by one thread
// at a time.
#ifndef LZERO_WORKER_REANALYZER_H_
#define LZERO_WORKER_REANALYZER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/agent/agent.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/replay/stored_root.h"

namespace lzero {

// Sums since the last TakeStats.
struct ReanalyzeStats {
  int64_t num_positions = 0;      // searched again
  double value_change_sum = 0.0;  // |new - old root value|
  // Total variation between old and new policy, 0 .. 1. Box actions have none: their policies are
  // over other sampled actions each time.
  double policy_change_sum = 0.0;
  int64_t num_policy_changes = 0;
  double age_sum = 0.0;  // transitions appended after the position
};

class Reanalyzer {
 public:
  // `model` answers the searches of `agent`, outlives the reanalyzer and takes `batch_size` roots.
  Reanalyzer(int batch_size, std::unique_ptr<Agent> agent, InferenceModel* model);

  // Searches `positions` [n] of `replay` again, batch by batch, and keeps what was found; positions
  // recycled meanwhile are skipped. `env_steps` of the whole run set the noise, as they do for the
  // collector. `replay` is locked only while roots are read: between that,
  // others may sample from it. Errors are those of Agent::Act. Blocks.
  absl::Status Search(absl::Span<const PositionHandle> positions, const ReplayBuffer& replay,
                      int64_t env_steps);
  // Writes what was found into `replay`, except where the position was recycled, and forgets it.
  void WriteBack(ReplayBuffer* replay);
  // Forgets it without writing.
  void Clear() { num_found_ = 0; }

  int batch_size() const { return batch_size_; }
  ReanalyzeStats TakeStats();

  // Batches searched so far: the key of the noise, and the only state.
  uint64_t num_searches() const { return agent_->num_searches(); }
  void set_num_searches(uint64_t num_searches) { agent_->set_num_searches(num_searches); }

 private:
  absl::Status SearchBatch(size_t num_roots, int64_t env_steps);
  // What the search of this root found, and its part of the statistics.
  void Keep(size_t row);

  const int batch_size_;
  std::unique_ptr<Agent> agent_;
  InferenceModel* model_;
  ReanalyzeStats stats_;
  std::vector<StoredRoot> stored_;  // of the batch
  std::vector<Root> roots_;         // point into stored_
  Decision decision_;
  std::vector<NewSearch> found_;  // the first num_found_ are in use
  size_t num_found_ = 0;
};

}  // namespace lzero

#endif  // LZERO_WORKER_REANALYZER_H_
