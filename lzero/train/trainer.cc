#include "lzero/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/kernels/parallel.h"
#include "lzero/nn/threads.h"
#include "lzero/replay/batch/batch_writer.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/train/plan_text.h"

namespace lzero {
namespace {

constexpr int64_t kManySteps = 10000;  // of an environment, for one episode
constexpr double kPi = 3.14159265358979323846;

}  // namespace

Trainer::Trainer(const ExperimentConfig& config, const std::atomic<bool>* stop)
    : config_(config),
      stop_(stop),
      env_pool_(static_cast<int>(config.env.num_threads)),
      overlap_pool_(config.deterministic ? 1 : 2),
      progress_(ProgressSeconds()),
      metrics_rates_(0.0),
      slow_(stop, absl::StrCat("train.batch_size ", config.train.batch_size)) {
  state_.next_metrics_update = config.train.log_every_updates;
  state_.next_evaluation_update = config.evaluate.every_updates;
  state_.next_checkpoint_update = config.checkpoint.every_updates;
}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(const ExperimentConfig& config,
                                                         const EnvRegistry& registry,
                                                         const std::atomic<bool>* stop) {
  // First of all: libtorch looks for CUDA once, at the first call that could want it.
  LZ_RETURN_IF_ERROR(PrepareDevice(config.inference.device).status());
  LZ_RETURN_IF_ERROR(PrepareDevice(config.learner_device(), LearnerDeviceKey(config)).status());
  SetTensorThreads(config.train.threads());
  std::unique_ptr<Trainer> trainer(new Trainer(config, stop));
  LZ_ASSIGN_OR_RETURN(trainer->plan_, PlanRun(config, registry));
  const std::vector<ExperimentConfig> configs = TaskConfigs(config);
  const std::vector<EnvSpec>& specs = trainer->plan_.envs;
  std::vector<WorldModelShape> shapes;
  for (const EnvSpec& spec : specs) shapes.push_back(BuildWorldModelShape(spec));
  LZ_ASSIGN_OR_RETURN(trainer->learner_, Learner::Create(config, shapes));
  // Before anything else works beside it.
  for (size_t i = 0; i < configs.size(); ++i) {
    LZ_RETURN_IF_ERROR(trainer->learner_->Prepare(
        BatchShapeFor(configs[i].replay, BuildReplayShape(configs[i], specs[i]),
                      static_cast<int>(configs[i].train.batch_size)),
        i));
  }
  for (size_t i = 0; i < configs.size(); ++i) {
    LZ_ASSIGN_OR_RETURN(
        auto task, TrainTask::Create(configs[i], specs[i], registry,
                                     /*is_only_task=*/configs.size() == 1, &trainer->env_pool_));
    const std::vector<std::string>& evaluated = config.multitask.evaluate_only;
    const bool only = std::ranges::find(evaluated, configs[i].name) != evaluated.end();
    if (only || !trainer->learner_->Learns(i)) task->OnlyEvaluate();
    trainer->tasks_.push_back(std::move(task));
  }
  LZ_RETURN_IF_ERROR(trainer->HandBack());
  return trainer;
}

std::string Trainer::PlanText(bool detailed) const {
  return DescribePlan(config_, plan_, tasks_[0]->inference().runner_name(), detailed);
}

absl::Status Trainer::ForEachTask(absl::FunctionRef<absl::Status(size_t, TrainTask&)> body) {
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const absl::Status status = body(i, *tasks_[i]);
    if (!status.ok() && tasks_.size() > 1 && !absl::IsCancelled(status)) {
      return Annotate(status, absl::StrCat("task ", tasks_[i]->config().name));
    }
    LZ_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

void Trainer::SumTasks() {
  state_.env_steps = state_.episodes = 0;
  state_.target_streak = tasks_.size() == 1 ? tasks_[0]->state().target_streak : 0;
  for (const auto& task : tasks_) {
    state_.env_steps += task->state().env_steps;
    state_.episodes += task->state().episodes;
  }
}

void Trainer::TakeTaskStates() {
  state_.tasks.clear();
  for (const auto& task : tasks_) state_.tasks.push_back(task->state());
}

bool Trainer::HasReachedLimit() const {
  return HasMadeUpdates() ||
         std::ranges::all_of(tasks_, [](const auto& task) { return task->HasReachedLimit(); });
}

bool Trainer::HasMadeUpdates() const {
  const std::optional<int64_t>& max_updates = config_.stop.max_updates;
  return max_updates.has_value() && state_.updates >= *max_updates;
}

bool Trainer::HasReachedTarget() const {
  return config_.stop.end_at_target &&
         std::ranges::all_of(tasks_, [](const auto& task) { return task->HasReachedTarget(); });
}

bool Trainer::IsSolved() const {
  return std::ranges::all_of(
      tasks_, [](const auto& task) { return task->state().solved_env_steps.has_value(); });
}

double Trainer::FractionOver() const {
  double sum = 0.0;
  int64_t count = 0;
  for (const auto& task : tasks_) {
    const std::optional<double> fraction = task->FractionOver();
    if (!fraction.has_value()) continue;
    sum += std::min(*fraction, 1.0);
    ++count;
  }
  double fraction = count > 0 ? sum / static_cast<double>(count) : 0.0;
  if (config_.stop.max_updates.has_value()) {
    fraction = std::max(fraction, static_cast<double>(state_.updates) /
                                      static_cast<double>(*config_.stop.max_updates));
  }
  return std::min(fraction, 1.0);
}

std::vector<int64_t> Trainer::UpdatesOwed() const {
  const int64_t most = config_.stop.max_updates.has_value()
                           ? *config_.stop.max_updates - state_.updates
                           : std::numeric_limits<int64_t>::max();
  std::vector<int64_t> owed;
  for (const auto& task : tasks_) {
    owed.push_back(std::clamp<int64_t>(task->UpdatesOwed(), 0, std::max<int64_t>(0, most)));
  }
  return owed;
}

bool Trainer::IsResetDue() const {
  const int64_t every = config_.train.reset_every_updates;
  if (every == 0 || state_.updates % every != 0) return false;
  const std::optional<int64_t> last = tasks_[0]->MostUpdates();
  return !last.has_value() || state_.updates + every <= *last;
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
  ProgressCounts counts;
  counts.updates = state_.updates;
  for (const auto& task : tasks_) {
    counts.env_steps += task->Counts().env_steps;
    counts.simulations += task->Counts().simulations;
  }
  return counts;
}

ProgressTimes Trainer::Times() const {
  ProgressTimes times;
  for (const auto& task : tasks_) {
    const ProgressTimes own = task->Times();
    times.env += own.env;
    times.network += own.network;
    times.copy += own.copy;
    times.tree += own.tree;
    times.reanalyze += own.reanalyze;
  }
  times.copy += copy_time_.seconds();
  times.learn = learn_time_.seconds();
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
  TakeTaskStates();
  return TrainOutcome{*reason, state_, tasks_.size() == 1 ? tasks_[0]->spec().num_players : 1};
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
  const std::vector<int64_t> owed = UpdatesOwed();
  const bool learns = std::ranges::any_of(owed, [](int64_t updates) { return updates > 0; });
  absl::Status learned, collected;
  const auto learn = [&] { learned = CatchTorch([&]() -> absl::Status { return Learn(owed); }); };
  const auto collect = [&] { collected = CatchTorch([&]() -> absl::Status { return Collect(); }); };
  // Deterministic: one after the other. Otherwise both at once, handed over afterwards.
  if (config_.deterministic) {
    learn();
    if (learned.ok()) {
      if (learns) learned = HandBack();
      if (learned.ok()) learned = PrepareReanalyze();
      if (learned.ok()) collect();
    }
  } else {
    LZ_RETURN_IF_ERROR(PrepareReanalyze());
    // Index 0 runs on this thread, index 1 on the other one. Who is ready first leaves its core.
    const bool crowded = config_.train.threads() + config_.inference.threads() > MachineCores();
    overlap_pool_.Run(learns ? 2 : 1, [&](int64_t part) {
      const SharesCores shares(crowded ? &num_working_ : nullptr);
      if (part == 0 && learns) {
        learn();
      } else {
        collect();
      }
    });
    if (learned.ok() && learns) learned = HandBack();
  }
  // A bad update is handled first; then what was collected is stored.
  if (absl::IsAborted(learned)) return HandleBadUpdate(learned);
  LZ_RETURN_IF_ERROR(learned);
  LZ_RETURN_IF_ERROR(collected);
  LZ_RETURN_IF_ERROR(ForEachTask([](size_t, TrainTask& task) { return task.StoreCollected(); }));
  SumTasks();
  return absl::OkStatus();
}

absl::Status Trainer::PrepareReanalyze() {
  return ForEachTask([this](size_t i, TrainTask& task) {
    return task.PrepareReanalyze([&]() -> const Network& { return learner_->target(i); });
  });
}

absl::Status Trainer::Collect() {
  SetTensorThreads(config_.inference.threads());
  return ForEachTask([](size_t, TrainTask& task) { return task.CollectAndReanalyze(); });
}

absl::Status Trainer::Learn(const std::vector<int64_t>& owed) {
  SetTensorThreads(config_.train.threads());
  const int64_t num_updates = *std::ranges::max_element(owed);
  slow_.Begin(num_updates);
  absl::Status status;
  for (int64_t number = 0; number < num_updates && status.ok(); ++number) {
    status = UpdateOnce(owed, number);
    slow_.CountUpdate();
  }
  slow_.End();
  // A checkpoint does not hold them.
  learner_->ForgetGradients();
  // Where not all that was owed was made, a batch may be drawn ahead.
  for (const auto& task : tasks_) task->DiscardBatches();
  return status;
}

absl::Status Trainer::UpdateOnce(const std::vector<int64_t>& owed, int64_t number) {
  std::vector<size_t> served;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (owed[i] > number) served.push_back(i);
  }
  if (config_.multitask.updates == UpdateTasks::kTogether) return Update(served, owed, number);
  for (const size_t task : served) {
    if (HasMadeUpdates()) break;
    LZ_RETURN_IF_ERROR(Update({task}, owed, number));
  }
  return absl::OkStatus();
}

absl::Status Trainer::Update(const std::vector<size_t>& tasks, const std::vector<int64_t>& owed,
                             int64_t number) {
  std::vector<TaskBatch> batches;
  for (const size_t i : tasks) {
    LZ_ASSIGN_OR_RETURN(const TaskBatch batch,
                        tasks_[i]->NextBatch(i, /*another_follows=*/number + 1 < owed[i]));
    batches.push_back(batch);
  }
  const ScopedTimer timer(&learn_time_);
  LZ_RETURN_IF_ERROR(learner_->Update(batches, LearningRate()));
  for (const size_t i : tasks) tasks_[i]->EndUpdate();
  state_.updates = learner_->num_updates();
  return IsResetDue() ? learner_->Reset() : absl::OkStatus();
}

// At the barrier: the collectors' weights become the learner's.
absl::Status Trainer::HandBack() {
  return ForEachTask(
      [this](size_t i, TrainTask& task) { return task.HandBack(learner_->model(i)); });
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
  WarnOfEndlessEpisodes(kManySteps);
  LZ_RETURN_IF_ERROR(EvaluateIfDue());
  if (checkpoint_due) LZ_RETURN_IF_ERROR(SaveCheckpoint());
  if (!HasReachedTarget() && progress_.IsDue(MonotonicSeconds())) {
    ShowProgress();
    WriteStatus(RunState::kRunning);
  }
  return absl::OkStatus();
}

}  // namespace lzero
