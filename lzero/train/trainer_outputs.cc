// What a Trainer writes and reads back: evaluations, checkpoints, metrics, progress, status.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/config/schema.h"
#include "lzero/nn/threads.h"
#include "lzero/player/weight_names.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/collapse.h"
#include "lzero/train/task/score_table.h"
#include "lzero/train/task/task_metrics.h"
#include "lzero/train/trainer.h"

namespace lzero {
namespace {

constexpr int64_t kMaxRollbacks = 3;
// Every so many lines of metrics the open loop is measured: it costs some passes of the model.
constexpr int64_t kOpenLoopEveryLines = 4;

}  // namespace

absl::Status Trainer::Evaluate() {
  WarnOfEndlessEpisodes(/*num_steps=*/0);
  // Play the episodes. An evaluation that is interrupted stays due: a checkpoint made then leads
  // back to it, with the same weights.
  const ScopedTimer timer(&evaluate_time_);
  SetTensorThreads(config_.inference.threads());
  std::vector<TaskEvaluation> evaluations(tasks_.size());
  LZ_RETURN_IF_ERROR(ForEachTask([&](size_t i, TrainTask& task) -> absl::Status {
    LZ_ASSIGN_OR_RETURN(evaluations[i], task.Evaluate(learner_->model(i), state_.evaluations,
                                                      [this] { return IsStopped(); }));
    return absl::OkStatus();
  }));
  const bool was_due = TakeDue(config_.evaluate.every_updates, &state_.next_evaluation_update);
  if (was_due) ++state_.evaluations;  // not the one at the end: a continued run goes on as without
  state_.last_evaluation_update = state_.updates;
  ReadClock();
  LZ_RETURN_IF_ERROR(RecordEvaluation(evaluations));
  return KeepEvaluated(state_.last_return);
}

absl::Status Trainer::RecordEvaluation(const std::vector<TaskEvaluation>& evaluations) {
  const bool is_only_task = tasks_.size() == 1;
  // Count what was reached, and whether it solves a task.
  MetricMap metrics;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    TrainTask& task = *tasks_[i];
    if (task.CountEvaluation(evaluations[i], state_.wall_seconds)) {
      LZ_LOG_INFO(is_only_task ? "" : absl::StrCat(task.config().name, " "),
                  absl::StrFormat("solved: %d evaluations in a row with %s >= %g, after %s "
                                  "env steps and %.1f s",
                                  task.config().stop.patience,
                                  evaluations[i].grade.has_value() ? "grade" : "mean return",
                                  *task.config().stop.target_return,
                                  FormatCount(task.state().env_steps), state_.wall_seconds));
    }
    for (const auto& [name, value] : EvaluationMetrics(evaluations[i])) {
      metrics[absl::StrCat(task.metric_prefix(), name)] = value;
    }
  }
  SumTasks();
  if (IsSolved() && !state_.solved_env_steps.has_value()) {
    state_.solved_env_steps = state_.env_steps;
    state_.solved_wall_seconds = state_.wall_seconds;
  }
  state_.last_return_env_steps = state_.env_steps;
  // Write the results.
  if (is_only_task) {
    state_.last_return = tasks_[0]->state().last_return;
    LZ_RETURN_IF_ERROR(outputs_->WriteEvaluation(state_.env_steps, evaluations[0].episodes));
  } else {
    const ScoreTable scores = Scores();
    state_.last_return = scores.Mean();
    scores.AddMetrics(&metrics);
    LZ_LOG_INFO(scores.Text());
    LZ_RETURN_IF_ERROR(outputs_->WriteScores(state_.env_steps, scores));
    for (size_t i = 0; i < tasks_.size(); ++i) {
      LZ_RETURN_IF_ERROR(outputs_->WriteEvaluation(state_.env_steps, evaluations[i].episodes,
                                                   tasks_[i]->config().name));
    }
  }
  return outputs_->WriteScalars(state_.env_steps, state_.updates, {metrics.begin(), metrics.end()});
}

// Saves what was evaluated as `best`, if it is: with one player the best so far, of equals the
// newest, which has learned from more. In self-play the return of player 0 is no measure of
// strength (perfect play of a drawn game scores 0), and tasks may have no score: the newest.
absl::Status Trainer::KeepEvaluated(std::optional<double> mean_return) {
  if (tasks_.size() > 1 || tasks_[0]->spec().num_players == 1) {
    if (state_.best_return.has_value() && mean_return < *state_.best_return) {
      return absl::OkStatus();
    }
    state_.best_return = mean_return;
  }
  state_.best_env_steps = state_.env_steps;
  LZ_RETURN_IF_ERROR(SaveCheckpoint());
  return outputs_->MarkBest(state_.env_steps);
}

void Trainer::WarnOnce(const char* what, const TrainTask& task, const std::string& warning) {
  if (!warned_.insert(absl::StrCat(what, " ", task.config().name)).second) return;
  LZ_LOG_WARNING(tasks_.size() == 1 ? "" : absl::StrCat("task ", task.config().name, ": "),
                 warning);
}

// The run goes on, but not towards anything.
void Trainer::WarnOfBadModel(const MetricMap& metrics) {
  for (const auto& task : tasks_) {
    const MetricMap own = MetricsUnder(task->metric_prefix(), metrics);
    const auto collapse = CollapseWarning(own, task->state().updates);
    const auto divergence = DivergenceWarning(own);
    if (collapse.has_value()) WarnOnce("collapse", *task, *collapse);
    if (divergence.has_value()) WarnOnce("divergence", *task, *divergence);
  }
}

void Trainer::WarnOfEndlessEpisodes(int64_t num_steps) {
  for (const auto& task : tasks_) {
    const int64_t env_steps = task->state().env_steps;
    const EnvSpec& spec = task->spec();
    if (spec.max_episode_steps > 0 || spec.longest_episode > 0 || task->state().episodes > 0 ||
        !task->collector().stats().episodes.empty() || env_steps == 0 ||
        env_steps < num_steps * task->collector().num_envs()) {
      continue;
    }
    WarnOnce("no end", *task,
             absl::StrCat("no episode has ended in ", FormatCount(env_steps), " env steps, and '",
                          spec.id,
                          "' has no step cap: an evaluation may never end; Ctrl-C saves the "
                          "run, resume it with env.max_episode_steps=N"));
  }
}

absl::Status Trainer::WriteMetrics() {
  // The learner.
  MetricMap metrics = learner_->ReadMetrics();
  WarnOfBadModel(metrics);
  if (state_.updates / config_.train.log_every_updates % kOpenLoopEveryLines == 0) {
    LZ_ASSIGN_OR_RETURN(const MetricMap open_loop, learner_->MeasureOpenLoop());
    metrics.insert(open_loop.begin(), open_loop.end());
  }
  // A run that is resumed from the checkpoint of this line has none of before either.
  learner_->ForgetBatches();
  for (const auto& task : tasks_) task->AddMetrics(&metrics);
  SumTasks();
  // Time.
  if (!config_.deterministic) {  // wall-clock numbers would make two equal runs differ
    if (metrics_rates_.HasMoved(Counts())) {
      const Progress::Rates rates = metrics_rates_.Mark(Counts(), MonotonicSeconds());
      metrics["time/env_steps_per_s"] = rates.env_steps_per_s;
      metrics["time/updates_per_s"] = rates.updates_per_s;
      metrics["time/sims_per_s"] = rates.sims_per_s;
    }
    metrics["time/wall_seconds"] = state_.wall_seconds;
    for (const auto& [name, share] : Times().Shares()) {
      metrics[absl::StrCat("time/share_", name)] = share;
    }
  }
  return outputs_->WriteScalars(state_.env_steps, state_.updates,
                                std::vector<Metric>(metrics.begin(), metrics.end()));
}

ScoreTable Trainer::Scores() const {
  std::vector<TaskScore> rows;
  for (const auto& task : tasks_) rows.push_back(task->Score());
  return ScoreTable(std::move(rows));
}

// "eval 195.0"; the score of several tasks, and of one that is graded: a game's returns say
// nothing.
std::string Trainer::EvaluatedText() const {
  if (!state_.last_return.has_value()) return "";
  if (tasks_.size() > 1) return Scores().Summary();
  const std::optional<double>& score = tasks_[0]->state().last_score;
  return tasks_[0]->config().score.measure == ScoreMeasure::kGrade && score.has_value()
             ? absl::StrFormat("score %.2f", *score)
             : absl::StrCat("eval ", FormatReturn(*state_.last_return));
}

std::string Trainer::ProgressText(const Progress::Rates& rates, std::optional<double> fraction,
                                  double now) const {
  std::optional<int64_t> max_env_steps = 0;
  for (const auto& task : tasks_) {
    const std::optional<int64_t>& own = task->config().stop.max_env_steps;
    max_env_steps = max_env_steps.has_value() && own.has_value()
                        ? std::optional<int64_t>(*max_env_steps + *own)
                        : std::nullopt;
  }
  const std::optional<double> collected =
      tasks_.size() == 1 ? tasks_[0]->CollectReturn() : std::nullopt;
  return progress_.Line(Counts(), rates, max_env_steps, fraction, collected, EvaluatedText(),
                        Times(), now);
}

void Trainer::ShowProgress() {
  const double now = MonotonicSeconds();
  const Progress::Rates rates = progress_.Mark(Counts(), now);
  LZ_LOG_INFO(ProgressText(rates, FractionOver(), now));
}

// The last line of a session: its means, nothing to come.
void Trainer::ShowSession() {
  const double now = MonotonicSeconds();
  const std::optional<Progress::Rates> rates = progress_.SessionRates(Counts(), now);
  if (rates.has_value()) LZ_LOG_INFO(ProgressText(*rates, std::nullopt, now));
}

void Trainer::WriteStatus(RunState run_state, const std::string& message) {
  RunStatus status;
  status.state = run_state;
  status.message = message;
  status.env_steps = state_.env_steps;
  status.updates = state_.updates;
  status.eval_return = state_.last_return;
  status.eval_env_steps = state_.last_return_env_steps;
  if (run_state == RunState::kRunning)
    status.eta_seconds = progress_.EtaSeconds(FractionOver(), MonotonicSeconds());
  const absl::Status written = outputs_->WriteStatus(status);
  if (!written.ok()) LZ_LOG_WARNING(written.message());
}

absl::StatusOr<CheckpointContent> Trainer::MakeCheckpoint() {
  CheckpointContent content;
  content.files = learner_->Export();
  LZ_RETURN_IF_ERROR(
      ForEachTask([&](size_t, TrainTask& task) { return task.Export(&content.files); }));
  TakeTaskStates();
  LZ_ASSIGN_OR_RETURN(state_.metrics_bytes, outputs_->SyncMetrics());
  content.state_json = TrainingStateToJson(state_);
  content.config_yaml = ResolvedYaml(config_);
  return content;
}

absl::Status Trainer::SaveCheckpoint() {
  const CheckpointMoment now = {state_.env_steps, state_.updates, state_.last_evaluation_update};
  if (now == last_checkpoint_) return absl::OkStatus();  // nothing has happened since
  const ScopedTimer timer(&copy_time_);
  LZ_RETURN_IF_ERROR(WriteMetrics());
  LZ_ASSIGN_OR_RETURN(const CheckpointContent content, MakeCheckpoint());
  LZ_RETURN_IF_ERROR(outputs_->WriteCheckpoint(state_.env_steps, content));
  last_checkpoint_ = now;
  WriteStatus(RunState::kRunning);  // a run that is killed now is not behind its checkpoint
  return absl::OkStatus();
}

absl::Status Trainer::StartFrom(const CheckpointContent& content) {
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig source, ParseResolvedConfig(content.config_yaml));
  for (const ExperimentConfig& task : TaskConfigs(config_)) {
    if (task.init.like == kNoTask) continue;
    LZ_RETURN_IF_ERROR(Annotate(FindTask(source, task.init.like).status(), "init.like"));
  }
  const auto names = MatchWeights(config_, source, learner_->WeightNames());
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is nothing of what init.parts ", ValueText(config_, "init.parts"),
                     " asks for; `own` is matched by the names of tasks, or init.like"));
  }
  LZ_LOG_INFO("init.from gives ", absl::StrJoin(PartsOf(names), ", "), "; the rest begins fresh");
  LZ_RETURN_IF_ERROR(learner_->StartFrom(content.files.at("model"), names));
  return HandBack();
}

absl::Status Trainer::Restore(const CheckpointContent& content) {
  LZ_CHECK(outputs_ != nullptr, "WriteTo comes first");
  // Read and check before anything changes.
  LZ_ASSIGN_OR_RETURN(const TrainingState state, TrainingStateFromJson(content.state_json));
  if (state.tasks.size() != tasks_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the checkpoint has ", state.tasks.size(),
                                                   " tasks, the config ", tasks_.size()));
  }
  LZ_RETURN_IF_ERROR(
      ForEachTask([&](size_t, TrainTask& task) { return task.CheckFiles(content.files); }));
  // Put back the learner, then the tasks.
  LZ_RETURN_IF_ERROR(learner_->Import(content.files, state.updates));
  LZ_RETURN_IF_ERROR(ForEachTask([&](size_t i, TrainTask& task) {
    return task.Import(content.files, state.tasks[i], learner_->model(i));
  }));
  // Put back counters and schedules. The config may have got shorter intervals, which count from
  // here, not from the old next time.
  state_ = state;
  SumTasks();
  if (!IsSolved()) {  // the config may have got another target
    state_.solved_env_steps.reset();
    state_.solved_wall_seconds.reset();
  }
  state_.next_evaluation_update =
      std::min(state_.next_evaluation_update, state_.updates + config_.evaluate.every_updates);
  state_.next_checkpoint_update =
      std::min(state_.next_checkpoint_update, state_.updates + config_.checkpoint.every_updates);
  last_checkpoint_ = {state.env_steps, state.updates, state.last_evaluation_update};
  // After a roll-back: what was measured since then belongs to steps that are undone.
  learner_->ReadMetrics();
  // Take back what was written after the checkpoint.
  LZ_RETURN_IF_ERROR(outputs_->Rewind(state.env_steps, state.metrics_bytes));
  return RestoreBest();
}

absl::Status Trainer::StartOver() {
  LZ_CHECK(outputs_ != nullptr, "WriteTo comes first");
  return outputs_->Rewind(/*env_steps=*/-1, /*metrics_bytes=*/0);
}

// The run may have been killed between a checkpoint and its mark, or go back to before a later best
// one, in whose favour the best of that time may have been removed.
absl::Status Trainer::RestoreBest() {
  if (!state_.best_env_steps.has_value()) return absl::OkStatus();
  const absl::Status marked = outputs_->MarkBest(*state_.best_env_steps);
  if (!absl::IsNotFound(marked)) return marked;
  LZ_LOG_WARNING("the best checkpoint is gone (", marked.message(),
                 "); the next evaluation takes its place");
  state_.best_return.reset();
  state_.best_env_steps.reset();
  if (tasks_.size() == 1) tasks_[0]->mutable_state().best_return.reset();
  return absl::OkStatus();
}

absl::Status Trainer::HandleBadUpdate(const absl::Status& bad) {
  std::map<std::string, const TrainBatch*> batches;
  for (const auto& task : tasks_) {
    if (task->last_batch().num_samples > 0) batches[task->batch_file()] = &task->last_batch();
  }
  const absl::StatusOr<std::string> folder =
      outputs_->DumpBadUpdate(state_.updates + 1, batches, learner_->Export());
  const std::string message =
      folder.ok()
          ? absl::StrCat(bad.message(), "; the batch and the weights before it are in ", *folder)
          : absl::StrCat(bad.message(), "; the batch and the weights before it could not be kept: ",
                         folder.status().message());
  if (config_.train.on_nan == OnNan::kStop) return absl::AbortedError(message);
  if (++num_rollbacks_ > kMaxRollbacks) {
    return absl::AbortedError(
        absl::StrCat(message, "; gave up after ", kMaxRollbacks, " rollbacks"));
  }
  LZ_LOG_WARNING(message, "; rolling back to the last checkpoint");
  const absl::StatusOr<CheckpointContent> content = outputs_->ReadLatestCheckpoint();
  if (!content.ok()) {
    return absl::AbortedError(
        absl::StrCat(message, "; cannot roll back: ", content.status().message()));
  }
  LZ_RETURN_IF_ERROR(Restore(*content));
  for (const auto& task : tasks_) task->RestartSampler(num_rollbacks_);
  return absl::OkStatus();
}

}  // namespace lzero
