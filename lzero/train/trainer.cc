#include "lzero/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/batch/batch_writer.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
constexpr int64_t kManySteps = 10000;  // of an environment, for one episode
constexpr double kPi = 3.14159265358979323846;

}  // namespace

Trainer::Trainer(const ExperimentConfig& config, const std::atomic<bool>* stop)
    : config_(config),
      stop_(stop),
      env_pool_(static_cast<int>(config.env.num_threads)),
      overlap_pool_(config.deterministic ? 1 : 2),
      sampler_(static_cast<uint64_t>(config.seed), "sampler"),
      reanalyze_draws_(static_cast<uint64_t>(config.seed), "reanalyze_draws"),
      progress_(ProgressSeconds()),
      metrics_rates_(0.0),
      slow_(stop, absl::StrCat("train.batch_size ", config.train.batch_size)) {
  state_.next_metrics_update = config.train.log_every_updates;
  state_.next_evaluation_update = config.evaluate.every_updates;
  state_.next_checkpoint_update = config.checkpoint.every_updates;
  state_.target_return = config.stop.target_return;
}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(const ExperimentConfig& config,
                                                         const EnvRegistry& registry,
                                                         const std::atomic<bool>* stop) {
  // First of all: libtorch looks for CUDA once, at the first call that could want it.
  LZ_RETURN_IF_ERROR(PrepareDevice(config.inference.device).status());
  LZ_RETURN_IF_ERROR(PrepareDevice(config.learner_device(), LearnerDeviceKey(config)).status());
  SetTensorThreads(static_cast<int>(config.train.num_threads));
  std::unique_ptr<Trainer> trainer(new Trainer(config, stop));
  LZ_ASSIGN_OR_RETURN(trainer->plan_, PlanRun(config, registry));
  const EnvSpec& spec = trainer->plan_.env;
  LZ_ASSIGN_OR_RETURN(trainer->learner_, Learner::Create(config, BuildWorldModelShape(spec)));
  LZ_ASSIGN_OR_RETURN(trainer->replay_,
                      ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec)));
  // Before anything else works beside it.
  LZ_RETURN_IF_ERROR(trainer->learner_->Prepare(BatchShapeFor(
      config.replay, BuildReplayShape(config, spec), static_cast<int>(config.train.batch_size))));
  trainer->batches_ = std::make_unique<BatchSampler>(trainer->replay_.get(), &trainer->sampler_,
                                                     static_cast<int>(config.train.batch_size),
                                                     /*draws_ahead=*/!config.replay.prioritized);
  LZ_ASSIGN_OR_RETURN(trainer->collector_, BuildCollector(config, registry, &trainer->env_pool_));
  LZ_ASSIGN_OR_RETURN(
      trainer->evaluator_,
      BuildEvaluator(config, registry, config.env.num_evaluators,
                     config.evaluate.num_simulations.value_or(config.search.num_simulations),
                     &trainer->env_pool_));
  LZ_ASSIGN_OR_RETURN(trainer->reanalyzer_, BuildReanalyzer(config, registry));
  LZ_RETURN_IF_ERROR(trainer->HandBack());
  return trainer;
}

std::string Trainer::PlanText(bool detailed) const {
  return DescribePlan(config_, plan_, collector_.inference->runner_name(), detailed);
}

bool Trainer::HasReachedLimit() const {
  const StopConfig& stop = config_.stop;
  return (stop.max_env_steps.has_value() && state_.env_steps >= *stop.max_env_steps) ||
         (stop.max_updates.has_value() && state_.updates >= *stop.max_updates);
}

bool Trainer::HasReachedTarget() const {
  const StopConfig& stop = config_.stop;
  return stop.target_return.has_value() && stop.end_at_target &&
         state_.target_streak >= stop.patience;
}

double Trainer::FractionOver() const {
  double fraction = 0.0;
  if (config_.stop.max_env_steps.has_value()) {
    fraction =
        static_cast<double>(state_.env_steps) / static_cast<double>(*config_.stop.max_env_steps);
  }
  if (config_.stop.max_updates.has_value()) {
    fraction = std::max(fraction, static_cast<double>(state_.updates) /
                                      static_cast<double>(*config_.stop.max_updates));
  }
  return std::min(fraction, 1.0);
}

int64_t Trainer::DueAt(double ratio) const {
  const int64_t counted = std::max<int64_t>(0, state_.env_steps - config_.train.start_env_steps);
  // A ratio such as 0.29 is a little less in binary: 29 are due after 100 steps, not 28.
  return static_cast<int64_t>(std::floor(static_cast<double>(counted) * ratio * (1.0 + kRounding)));
}

int64_t Trainer::ReanalysesOwed() const {
  if (reanalyzer_.reanalyzer == nullptr) return 0;
  const int64_t owed = DueAt(config_.replay.reanalyze_ratio) - state_.reanalyzed;
  return owed - owed % reanalyzer_.reanalyzer->batch_size();
}

int64_t Trainer::UpdatesOwed() const {
  // Before any position has all its targets the updates wait; they are made up for later.
  if (replay_->stats().num_eligible == 0) return 0;
  int64_t owed = DueAt(config_.train.updates_per_env_step) - state_.updates;
  if (config_.stop.max_updates.has_value()) {
    owed = std::min(owed, *config_.stop.max_updates - state_.updates);
  }
  return std::max<int64_t>(0, owed);
}

double Trainer::LearningRate() const {
  const TrainConfig& train = config_.train;
  double rate = train.learning_rate;
  const double over = FractionOver();
  if (train.learning_rate_schedule == LearningRateSchedule::kLinear) {
    rate += (train.final_learning_rate - train.learning_rate) * over;
  } else if (train.learning_rate_schedule == LearningRateSchedule::kCosine) {
    rate = train.final_learning_rate +
           (train.learning_rate - train.final_learning_rate) * 0.5 * (1.0 + std::cos(kPi * over));
  }
  if (state_.updates < train.warmup_updates) {
    rate *= static_cast<double>(state_.updates + 1) / static_cast<double>(train.warmup_updates);
  }
  return rate;
}

ProgressCounts Trainer::Counts() const {
  const int64_t num_searches = state_.env_steps + state_.reanalyzed;
  return {state_.env_steps, state_.updates, num_searches * config_.search.num_simulations};
}

ProgressTimes Trainer::Times() const {
  ProgressTimes times;
  times.env = collector_.collector->env_seconds();
  times.network = collector_.inference->network_seconds();
  times.copy = collector_.inference->copy_seconds() + copy_time_.seconds();
  times.tree =
      collector_.collector->search_seconds() - times.network - collector_.inference->copy_seconds();
  times.learn = learn_time_.seconds();
  times.reanalyze = reanalyze_time_.seconds();
  times.evaluate = evaluate_time_.seconds();
  return times;
}

absl::StatusOr<TrainOutcome> Trainer::Run() {
  LZ_CHECK(outputs_ != nullptr, "WriteTo comes first");
  session_start_ = MonotonicSeconds();
  wall_before_session_ = state_.wall_seconds;
  progress_.Start(Counts(), session_start_);
  progress_.SetStartFraction(FractionOver());
  metrics_rates_.Start(Counts(), session_start_);
  WriteStatus(RunState::kRunning);
  // Memory may run out anywhere in a run: it fails then, it does not crash.
  const auto reason = CatchTorch([&]() -> absl::StatusOr<StopReason> { return RunToEnd(); });
  if (!reason.ok()) {
    WriteStatus(RunState::kFailed, std::string(reason.status().message()));
    return reason.status();
  }
  ShowSession();
  WriteStatus(*reason == StopReason::kInterrupted ? RunState::kInterrupted : RunState::kFinished);
  return TrainOutcome{*reason, state_, plan_.env.num_players};
}

absl::StatusOr<StopReason> Trainer::RunToEnd() {
  absl::StatusOr<StopReason> reason = RunToLimit();
  if (absl::IsCancelled(reason.status())) reason = StopReason::kInterrupted;
  LZ_RETURN_IF_ERROR(reason.status());
  ReadClock();  // an evaluation that was interrupted took its time too
  LZ_RETURN_IF_ERROR(SaveCheckpoint());
  return reason;
}

absl::StatusOr<StopReason> Trainer::RunToLimit() {
  LZ_ASSIGN_OR_RETURN(const StopReason reason, RunLoop());
  if (reason == StopReason::kLimit && state_.last_evaluation_update != state_.updates) {
    LZ_RETURN_IF_ERROR(Evaluate());
  }
  return reason;
}

absl::StatusOr<StopReason> Trainer::RunLoop() {
  // A resumed run begins with the evaluation in which it was interrupted.
  LZ_RETURN_IF_ERROR(EvaluateIfDue());
  while (!HasReachedLimit()) {
    if (HasReachedTarget()) return StopReason::kTargetReached;
    if (IsStopped()) return StopReason::kInterrupted;
    LZ_RETURN_IF_ERROR(CollectAndLearn());
    // The end of the run evaluates and saves. Doing so here as well would write two checkpoints of
    // one step, the second over the one that `best` may point at. The updates that the last step
    // owes are made beside the next one, if the run is ever continued: so it learns the same as one
    // that was never ended here.
    if (HasReachedLimit()) break;
    LZ_RETURN_IF_ERROR(AfterStep());
  }
  return StopReason::kLimit;
}

absl::Status Trainer::CollectAndLearn() {
  // What is owed, and the two jobs.
  const int64_t owed = UpdatesOwed();
  const int64_t num_reanalyses = ReanalysesOwed();
  absl::Status learned, collected;
  const auto learn = [&] { learned = CatchTorch([&]() -> absl::Status { return Learn(owed); }); };
  const auto collect = [&] {
    collected = CatchTorch([&]() -> absl::Status { return CollectAndReanalyze(); });
  };
  // Deterministic: one after the other. Otherwise both at once, handed over afterwards.
  if (config_.deterministic) {
    learn();
    if (learned.ok()) {
      if (owed > 0) learned = HandBack();
      if (learned.ok()) learned = PrepareReanalyze(num_reanalyses);
      if (learned.ok()) collect();
    }
  } else {
    LZ_RETURN_IF_ERROR(PrepareReanalyze(num_reanalyses));
    // Index 0 runs on this thread, index 1 on the other one.
    overlap_pool_.Run(owed > 0 ? 2 : 1, [&](int64_t part) {
      if (part == 0 && owed > 0) {
        learn();
      } else {
        collect();
      }
    });
    if (learned.ok() && owed > 0) learned = HandBack();
  }
  // A bad update is handled first; then what was collected is stored.
  if (absl::IsAborted(learned)) return HandleBadUpdate(learned);
  LZ_RETURN_IF_ERROR(learned);
  LZ_RETURN_IF_ERROR(collected);
  return StoreCollected();
}

absl::Status Trainer::PrepareReanalyze(int64_t num_positions) {
  reanalyzed_.clear();
  if (num_positions == 0) return absl::OkStatus();
  const ScopedTimer timer(&reanalyze_time_);
  // All stored positions alike: the learner samples them so too. The one searched longest ago would
  // be the better choice while replay grows, but once it is full and the ratio below 1 that one is
  // always about to be evicted.
  replay_->DrawPositions(num_positions, reanalyze_draws_, &reanalyzed_);
  return reanalyzer_.inference->CopyWeightsFrom(learner_->target());
}

absl::Status Trainer::CollectAndReanalyze() {
  SetTensorThreads(static_cast<int>(config_.inference.num_threads));
  LZ_RETURN_IF_ERROR(collector_.collector->Step(state_.env_steps));
  if (reanalyzed_.empty()) return absl::OkStatus();
  const ScopedTimer timer(&reanalyze_time_);
  return Annotate(reanalyzer_.reanalyzer->Search(reanalyzed_, *replay_), "reanalyze");
}

absl::Status Trainer::StoreCollected() {
  if (!reanalyzed_.empty()) {
    const ScopedTimer timer(&reanalyze_time_);
    // Before new steps recycle positions.
    reanalyzer_.reanalyzer->WriteBack(replay_.get());
    state_.reanalyzed += static_cast<int64_t>(reanalyzed_.size());
    reanalyzed_.clear();
  }
  const ScopedTimer timer(&copy_time_);
  state_.env_steps += collector_.collector->staged().num_steps();
  return collector_.collector->staged().MoveTo(*replay_);
}

absl::Status Trainer::Learn(int64_t num_updates) {
  SetTensorThreads(static_cast<int>(config_.train.num_threads));
  slow_.Begin(num_updates);
  absl::Status status;
  for (int64_t i = 0; i < num_updates && status.ok(); ++i) {
    status = UpdateOnce(/*another_follows=*/i + 1 < num_updates);
    if (!status.ok()) batches_->Discard();
    slow_.CountUpdate();
  }
  slow_.End();
  return status;
}

absl::Status Trainer::UpdateOnce(bool another_follows) {
  const TrainBatch* batch = nullptr;
  {
    const ScopedTimer timer(&copy_time_);
    LZ_ASSIGN_OR_RETURN(batch, batches_->Next(another_follows));
  }
  const ScopedTimer timer(&learn_time_);
  const bool prioritized = config_.replay.prioritized;
  LZ_RETURN_IF_ERROR(
      learner_->Update(*batch, LearningRate(), prioritized ? &priorities_ : nullptr));
  if (prioritized) replay_->UpdatePriorities(batch->positions, priorities_);
  state_.updates = learner_->num_updates();
  return absl::OkStatus();
}

// At the barrier: the collector's weights become the learner's.
absl::Status Trainer::HandBack() {
  const ScopedTimer timer(&copy_time_);
  return collector_.inference->CopyWeightsFrom(learner_->model());
}

bool Trainer::TakeDue(int64_t every, int64_t* next) const {
  if (every == 0 || state_.updates < *next) return false;
  while (*next <= state_.updates) *next += every;
  return true;
}

absl::Status Trainer::EvaluateIfDue() {
  const int64_t every = config_.evaluate.every_updates;
  if (every == 0 || state_.updates < state_.next_evaluation_update) return absl::OkStatus();
  return Evaluate();
}

void Trainer::ReadClock() {
  state_.wall_seconds = wall_before_session_ + MonotonicSeconds() - session_start_;
}

absl::Status Trainer::AfterStep() {
  ReadClock();
  // All counters move before anything is written: a run resumed from a checkpoint made below must
  // not do again what this step already did.
  const bool metrics_due = TakeDue(config_.train.log_every_updates, &state_.next_metrics_update);
  const bool checkpoint_due =
      TakeDue(config_.checkpoint.every_updates, &state_.next_checkpoint_update);
  if (metrics_due) LZ_RETURN_IF_ERROR(WriteMetrics());
  if (state_.env_steps >= kManySteps * config_.env.num_collectors) WarnOfEndlessEpisodes();
  LZ_RETURN_IF_ERROR(EvaluateIfDue());
  if (checkpoint_due) LZ_RETURN_IF_ERROR(SaveCheckpoint());
  if (!HasReachedTarget() && progress_.IsDue(MonotonicSeconds())) {
    ShowProgress();
    WriteStatus(RunState::kRunning);
  }
  return absl::OkStatus();
}

}  // namespace lzero
