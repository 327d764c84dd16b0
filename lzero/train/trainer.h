// The training run, of one task or of several in one model: collection and learning in turn
// (deterministic: true) or at the same time, with an exact ratio of updates to environment steps of
// each task in both; evaluation, checkpoints, metrics, resume. In a round every task that has not
// reached its limit makes its steps; an update serves the tasks that are owed one, in the order of
// their names.
// Overlapped: while the learner makes the updates that are owed, the collector plays the next step
// with the weights of the last barrier; at the barrier steps and weights change hands. So the
// result depends on the config and the seed, never on machine speed. Stored positions are searched
// again on the collector's side, with the target network of the last barrier; what is found enters
// replay at the next one, where nothing is sampled. A run that ends at its target
// keeps the very weights that reached it: updates owed for its last step are not made.
#ifndef LZERO_TRAIN_TRAINER_H_
#define LZERO_TRAIN_TRAINER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/run/progress.h"
#include "lzero/run/training_state.h"
#include "lzero/train/learner.h"
#include "lzero/train/run_outputs.h"
#include "lzero/train/run_plan.h"
#include "lzero/train/slow_step.h"
#include "lzero/train/task/train_task.h"

namespace lzero {

enum class StopReason { kLimit, kTargetReached, kInterrupted };

struct TrainOutcome {
  StopReason reason = StopReason::kLimit;
  TrainingState state;
  int num_players = 1;
};

class Trainer {
 public:
  // Builds every object and writes nothing. `registry` outlives the trainer. `stop` is polled
  // between steps; when it becomes true the run writes a checkpoint and ends as interrupted.
  // `best` is the checkpoint of the best evaluation; of a game for two players, whose self-play
  // return does not measure strength, that of the newest one, and stop.target_return is refused; of
  // several tasks that of the best mean score, where a task has one.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(const ExperimentConfig& config,
                                                         const EnvRegistry& registry,
                                                         const std::atomic<bool>* stop);

  // What the run will do and need, in words: one fact a line (see DescribePlan).
  std::string PlanText(bool detailed) const;

  // Where Restore and Run write: call it once, before either.
  void WriteTo(std::unique_ptr<RunOutputs> outputs) { outputs_ = std::move(outputs); }

  // Takes the first weights from a checkpoint of another run, as init.parts says. InvalidArgument
  // lists what does not fit; nothing has changed then.
  absl::Status StartFrom(const CheckpointContent& content);

  // Continues from the content of a checkpoint of this run's folder, where newer ones are set
  // aside. InvalidArgument explains what does not fit; nothing is written then.
  absl::Status Restore(const CheckpointContent& content);

  // For a run that was killed before its first checkpoint: what it wrote is undone and it begins
  // again.
  absl::Status StartOver();

  // Runs to a stop condition. When the data cause an error (a loss that is not finite), the run
  // folder has the offending batch and the message says where.
  absl::StatusOr<TrainOutcome> Run();

 private:
  Trainer(const ExperimentConfig& config, const std::atomic<bool>* stop);

  // Two checkpoints differ when one of these does: env steps, updates, the last evaluation.
  using CheckpointMoment = std::array<int64_t, 3>;

  bool HasReachedLimit() const;
  // Whether all of stop.max_updates are made.
  bool HasMadeUpdates() const;
  // True when stop.target_return was reached for long enough, in each task, and that ends the run.
  bool HasReachedTarget() const;
  // Whether every task has reached its target once.
  bool IsSolved() const;
  bool IsStopped() const { return stop_ != nullptr && stop_->load(); }
  // Updates that tasks are owed now, by task, as stop.max_updates allows.
  std::vector<int64_t> UpdatesOwed() const;
  // Whether the network is to be reset after the updates made.
  bool IsResetDue() const;
  double LearningRate() const;
  double FractionOver() const;
  // True when `*next` updates are made; then moves `*next` past the updates made, in steps of
  // `every`.
  bool TakeDue(int64_t every, int64_t* next) const;
  absl::StatusOr<StopReason> RunToEnd();
  // Runs up to the limit and a last evaluation, or to the target. Cancelled when an evaluation is
  // cancelled.
  absl::StatusOr<StopReason> RunToLimit();
  absl::StatusOr<StopReason> RunLoop();
  absl::Status CollectAndLearn();
  // What every task does beside the updates: steps of its collector, searches of positions that
  // were drawn.
  absl::Status Collect();
  absl::Status PrepareReanalyze();
  absl::Status Learn(const std::vector<int64_t>& owed);
  // The update, or updates, of the tasks that are owed more than `number`, counted from 0 in this
  // round.
  absl::Status UpdateOnce(const std::vector<int64_t>& owed, int64_t number);
  absl::Status Update(const std::vector<size_t>& tasks, const std::vector<int64_t>& owed,
                      int64_t number);
  absl::Status HandBack();
  // Calls body(i, task) for each until one fails.
  absl::Status ForEachTask(absl::FunctionRef<absl::Status(size_t, TrainTask&)> body);
  // Counters of the run from those of its tasks.
  void SumTasks();
  void TakeTaskStates();  // into the run's state
  ScoreTable Scores() const;
  absl::Status HandleBadUpdate(const absl::Status& bad);
  absl::Status AfterStep();
  void ReadClock();  // sets wall_seconds of the state
  absl::Status EvaluateIfDue();
  absl::Status Evaluate();
  // Counts an evaluation, by task, and writes it.
  absl::Status RecordEvaluation(const std::vector<TaskEvaluation>& evaluations);
  absl::Status KeepEvaluated(std::optional<double> mean_return);
  absl::Status SaveCheckpoint();
  absl::Status RestoreBest();
  absl::StatusOr<CheckpointContent> MakeCheckpoint();
  absl::Status WriteMetrics();
  void WarnOnce(const char* what, const TrainTask& task, const std::string& warning);
  void WarnOfBadModel(const MetricMap& metrics);
  // Before an evaluation is waited for that may never end: no episode of a collector has, in
  // `num_steps` of each environment or more.
  void WarnOfEndlessEpisodes(int64_t num_steps);
  std::string EvaluatedText() const;
  std::string ProgressText(const Progress::Rates& rates, std::optional<double> fraction,
                           double now) const;
  void ShowProgress();
  void ShowSession();
  void WriteStatus(RunState run_state, const std::string& message = "");
  ProgressCounts Counts() const;
  ProgressTimes Times() const;

  ExperimentConfig config_;
  std::unique_ptr<RunOutputs> outputs_;
  const std::atomic<bool>* stop_;
  RunPlan plan_;
  ThreadPool env_pool_;
  ThreadPool overlap_pool_;
  std::unique_ptr<Learner> learner_;
  std::vector<std::unique_ptr<TrainTask>> tasks_;  // in the order of TaskConfigs
  TrainingState state_;                            // whose `tasks` are those of a checkpoint
  Progress progress_;
  Progress metrics_rates_;
  Stopwatch learn_time_, copy_time_, evaluate_time_;
  double session_start_ = 0.0;
  double wall_before_session_ = 0.0;
  int64_t num_rollbacks_ = 0;
  std::set<std::string> warned_;  // of what, for which task: said once
  CheckpointMoment last_checkpoint_ = {-1, -1, -1};
  SlowStepWatch slow_;
  std::atomic<int> num_working_{0};  // of the collector and the learner
};

}  // namespace lzero

#endif  // LZERO_TRAIN_TRAINER_H_
