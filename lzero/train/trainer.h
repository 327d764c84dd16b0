// The training run: collection and learning in turn (deterministic: true) or at the same time, with
// an exact ratio of updates to environment steps in both; evaluation, checkpoints, metrics, resume.
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
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/rng.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/replay/batch/batch_sampler.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/run/progress.h"
#include "lzero/run/training_state.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"
#include "lzero/train/run_outputs.h"
#include "lzero/train/run_plan.h"
#include "lzero/train/slow_step.h"

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
  // return does not measure strength, that of the newest one, and stop.target_return is refused.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(const ExperimentConfig& config,
                                                         const EnvRegistry& registry,
                                                         const std::atomic<bool>* stop);

  // What the run will do and need, in words: one fact a line (see DescribePlan).
  std::string PlanText(bool detailed) const;

  // Where Restore and Run write: call it once, before either.
  void WriteTo(std::unique_ptr<RunOutputs> outputs) { outputs_ = std::move(outputs); }

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
  // True when stop.target_return was reached for long enough and that ends the run.
  bool HasReachedTarget() const;
  bool IsStopped() const { return stop_ != nullptr && stop_->load(); }
  // Updates that the ratio asks for at this number of environment steps and that are not made yet;
  // 0 while nothing can be sampled.
  int64_t UpdatesOwed() const;
  // `ratio` for each step after train.start_env_steps, rounded down.
  int64_t DueAt(double ratio) const;
  // Stored positions to search again now: full batches alone, which cost less a position.
  int64_t ReanalysesOwed() const;
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
  // One step of the collector, then searches of the positions that PrepareReanalyze drew.
  absl::Status CollectAndReanalyze();
  // At a barrier: draws `num_positions` positions and takes the weights of the target network.
  absl::Status PrepareReanalyze(int64_t num_positions);
  // Moves what collector and reanalyzer made into replay.
  absl::Status StoreCollected();
  absl::Status Learn(int64_t num_updates);
  absl::Status UpdateOnce(bool another_follows);
  absl::Status HandBack();
  absl::Status HandleBadUpdate(const absl::Status& bad);
  absl::Status AfterStep();
  void ReadClock();  // sets wall_seconds of the state
  absl::Status EvaluateIfDue();
  absl::Status Evaluate();
  absl::Status KeepEvaluated(double mean_return);
  absl::Status SaveCheckpoint();
  absl::Status RestoreBest();
  absl::StatusOr<CheckpointContent> MakeCheckpoint();
  absl::Status WriteMetrics();
  void WarnOfBadModel(const MetricMap& metrics);
  void WarnOfEndlessEpisodes();
  void AddReanalyzeMetrics(int64_t num_stored, MetricMap* metrics);
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
  std::unique_ptr<ReplayBuffer> replay_;
  CollectorRole collector_;
  EvaluatorRole evaluator_;
  ReanalyzerRole reanalyzer_;
  RandomStream sampler_;
  RandomStream reanalyze_draws_;
  std::vector<PositionHandle> reanalyzed_;  // between two barriers: the positions being searched
  std::unique_ptr<BatchSampler> batches_;   // draws from replay_ with sampler_
  std::vector<float> priorities_;
  TrainingState state_;
  Progress progress_;
  Progress metrics_rates_;
  Stopwatch learn_time_, copy_time_, evaluate_time_, reanalyze_time_;
  double session_start_ = 0.0;
  double wall_before_session_ = 0.0;
  std::optional<double> collect_return_;  // mean of the episodes since the last metrics line
  int64_t num_rollbacks_ = 0;
  bool warned_of_collapse_ = false, warned_of_divergence_ = false, warned_of_no_end_ = false;
  CheckpointMoment last_checkpoint_ = {-1, -1, -1};
  SlowStepWatch slow_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_TRAINER_H_
