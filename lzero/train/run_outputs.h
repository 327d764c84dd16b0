// Everything a training run writes, behind one object: metrics, evaluations, checkpoints, status,
// and the dump of an update that went wrong. Owns the run folder's writers; the trainer's thread
// only.
#ifndef LZERO_TRAIN_RUN_OUTPUTS_H_
#define LZERO_TRAIN_RUN_OUTPUTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/named_array.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/evaluation_files.h"
#include "lzero/run/metrics_writer.h"
#include "lzero/run/status_file.h"
#include "lzero/train/task/score_table.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

class RunOutputs {
 public:
  // Writes into the existing run folder `run_dir`; `keep` checkpoints besides best.
  static absl::StatusOr<std::unique_ptr<RunOutputs>> Create(const std::string& run_dir,
                                                            int64_t keep);

  const std::string& run_dir() const { return run_dir_; }

  absl::Status WriteScalars(int64_t env_steps, int64_t updates, const std::vector<Metric>& metrics);
  // Makes the metrics durable; returns their length, which a checkpoint stores.
  absl::StatusOr<int64_t> SyncMetrics() { return metrics_->Sync(); }

  // `task`, of a run of several, has a folder of its own in that of the evaluation.
  absl::Status WriteEvaluation(int64_t env_steps, const std::vector<EvaluatedEpisode>& episodes,
                               const std::string& task = "");
  // The evaluation of a run of several tasks: an episode a task, whose return is the bounded score;
  // nothing where no task has one.
  absl::Status WriteScores(int64_t env_steps, const ScoreTable& scores);
  absl::Status WriteCheckpoint(int64_t env_steps, const CheckpointContent& content);
  absl::Status MarkBest(int64_t env_steps);
  // The run goes on from its checkpoint of `env_steps` (-1: from its start), when the metrics had
  // `metrics_bytes`: later checkpoints and evaluations are set aside (an evaluation of that very
  // step is written again if it is still due), later metrics cut off; where something was set
  // aside, and at the start, they are kept in metrics.jsonl.aside. InvalidArgument when the metrics
  // are not those of the checkpoint; nothing is changed then.
  absl::Status Rewind(int64_t env_steps, int64_t metrics_bytes);
  absl::StatusOr<CheckpointContent> ReadLatestCheckpoint() const;
  // Writes `status` with the process and the time filled in.
  absl::Status WriteStatus(RunStatus status);

  // Writes batches, by the names of their files, and the weights before the update to
  // bad_update_<number>/ of the run folder; returns that folder.
  absl::StatusOr<std::string> DumpBadUpdate(
      int64_t number, const std::map<std::string, const TrainBatch*>& batches,
      const std::map<std::string, std::vector<NamedArray>>& weights);

 private:
  RunOutputs(std::string run_dir, int64_t keep, std::unique_ptr<MetricsWriter> metrics);

  std::string run_dir_;
  int64_t keep_;
  std::unique_ptr<MetricsWriter> metrics_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_RUN_OUTPUTS_H_
