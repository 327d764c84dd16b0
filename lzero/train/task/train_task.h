// One task of a run: its environments with collector, evaluator and reanalyzer, its replay, its
// random streams and counters, and what is owed for its steps. Not the learner, which all tasks
// share, and not the order of things: the trainer decides when. Trainer's thread, but
// CollectAndReanalyze may run on another one beside an update.
#ifndef LZERO_TRAIN_TASK_TRAIN_TASK_H_
#define LZERO_TRAIN_TASK_TRAIN_TASK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/rng.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/replay/batch/batch_sampler.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/progress.h"
#include "lzero/run/training_state.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"
#include "lzero/train/task/score_table.h"
#include "lzero/train/task/task_metrics.h"

namespace lzero {

class TrainTask {
 public:
  // `config`, one of TaskConfigs; `prefix` begins the names of its files and of its metrics, "" for
  // an only task. Environments are stepped on `pool`, which outlives the task, as `registry` does.
  static absl::StatusOr<std::unique_ptr<TrainTask>> Create(const ExperimentConfig& config,
                                                           const EnvSpec& spec,
                                                           const EnvRegistry& registry,
                                                           bool is_only_task, ThreadPool* pool);

  const ExperimentConfig& config() const { return config_; }
  const EnvSpec& spec() const { return spec_; }
  const std::string& metric_prefix() const { return metric_prefix_; }
  const TaskState& state() const { return state_; }
  TaskState& mutable_state() { return state_; }
  const Collector& collector() const { return *collector_.collector; }
  const InferenceEngine& inference() const { return *collector_.inference; }
  const std::string& batch_file() const { return batch_file_; }

  // The task learns nothing: it makes no steps, and is evaluated alone.
  void OnlyEvaluate() { is_evaluated_only_ = true; }
  // True when the task has made all its steps, and those of train.tail_updates.
  bool HasReachedLimit() const {
    return HasReachedLimitAt(state_.env_steps) && state_.tail_steps >= NumTailSteps();
  }
  // Share of its steps that are made; nullopt without a limit.
  std::optional<double> FractionOver() const;
  // Updates that the ratio asks for at this number of environment steps and that are not made yet;
  // 0 while nothing can be sampled.
  int64_t UpdatesOwed() const;

  // All updates that its steps and train.tail_updates ask for; nullopt without a limit.
  std::optional<int64_t> MostUpdates() const;

  // The batch of the next update; see BatchSampler::Next.
  absl::StatusOr<TaskBatch> NextBatch(size_t index, bool another_follows);
  // After that update: new priorities, counters.
  void EndUpdate();
  // After the updates of a round, or one that failed: takes back what was drawn ahead.
  void DiscardBatches() { batches_->Discard(); }
  const TrainBatch& last_batch() const { return batches_->last(); }

  // At a barrier: the collector's weights become `model`.
  absl::Status HandBack(const Network& model);
  // At a barrier: draws the stored positions that are to be searched again now, full batches alone,
  // and takes the weights of the target network.
  absl::Status PrepareReanalyze(const std::function<const Network&()>& target);
  // train.steps_per_round steps of the collector, fewer where the limit is reached, then searches
  // of the positions that PrepareReanalyze drew. Where the limit was reached before, time goes on
  // without steps until train.tail_updates are due.
  absl::Status CollectAndReanalyze();
  // Moves what collector and reanalyzer made into replay.
  absl::Status StoreCollected();

  // Plays the episodes of evaluation number `evaluation` with the weights of `model`, and grades
  // its search where score.measure says so. Cancelled when `stop`, polled now and then, becomes
  // true.
  absl::StatusOr<TaskEvaluation> Evaluate(const Network& model, int64_t evaluation,
                                          const std::function<bool()>& stop);
  // Counts an evaluation; true when the task is solved by it.
  bool CountEvaluation(const TaskEvaluation& evaluation, double wall_seconds);
  // That of the last evaluation; the caller must have counted one.
  TaskScore Score() const;
  // Whether stop.target_return was reached for long enough.
  bool HasReachedTarget() const;

  // Metrics since the last call of what is collected, searched and stored, under their names.
  void AddMetrics(MetricMap* metrics);
  // The mean return of the newest episodes.
  std::optional<double> CollectReturn();
  // The counts and the seconds of work so far, without what learner and evaluator took.
  ProgressCounts Counts() const;
  ProgressTimes Times() const;

  // Files of a checkpoint, with its streams in state().
  absl::Status Export(std::map<std::string, std::vector<NamedArray>>* files);
  // NotFound names a file that is missing; nothing has changed then. `model`: of the checkpoint.
  absl::Status CheckFiles(const std::map<std::string, std::vector<NamedArray>>& files) const;
  absl::Status Import(const std::map<std::string, std::vector<NamedArray>>& files,
                      const TaskState& state, const Network& model);
  // Another stream of samples, as after a roll-back: else the same batch would come again.
  void RestartSampler(int64_t number);

 private:
  TrainTask(const ExperimentConfig& config, const EnvSpec& spec, bool is_only_task);
  bool HasReachedLimitAt(int64_t env_steps) const;
  // Env steps that train.tail_updates would be due for.
  int64_t NumTailSteps() const;
  // `ratio` for each of so many steps after train.start_env_steps, rounded down; and for those
  // made.
  int64_t DueAt(double ratio, int64_t steps) const;
  int64_t DueAt(double ratio) const { return DueAt(ratio, state_.env_steps + state_.tail_steps); }
  int64_t ReanalysesOwed() const;
  void AddReanalyzeMetrics(int64_t num_stored, MetricMap* metrics);

  const ExperimentConfig config_;
  const EnvSpec spec_;
  const std::string metric_prefix_;
  std::string replay_file_, collector_file_, contexts_file_, batch_file_;
  std::unique_ptr<ReplayBuffer> replay_;
  CollectorRole collector_;
  EvaluatorRole evaluator_;
  ReanalyzerRole reanalyzer_;
  std::unique_ptr<Grader> grader_;  // null where returns are scored
  RandomStream sampler_;
  RandomStream reanalyze_draws_;
  std::vector<PositionHandle> reanalyzed_;  // between two barriers: the positions being searched
  std::unique_ptr<BatchSampler> batches_;   // draws from replay_ with sampler_
  std::vector<float> priorities_;
  TaskState state_;
  bool is_evaluated_only_ = false;
  std::optional<double> collect_return_;  // mean of the episodes since the last metrics
  Stopwatch copy_time_, reanalyze_time_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_TRAIN_TASK_H_
