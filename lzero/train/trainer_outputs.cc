// What a Trainer writes and reads back: evaluations, checkpoints, metrics, progress, status.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/dump.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/collapse.h"
#include "lzero/train/trainer.h"

namespace lzero {
namespace {

constexpr int64_t kMaxRollbacks = 3;
constexpr size_t kCalibrationGroups = 10;
// Every so many lines of metrics the open loop is measured: it costs some passes of the model.
constexpr int64_t kOpenLoopEveryLines = 4;

template <typename Episode, typename Number>
double MeanOf(const std::vector<Episode>& episodes, Number Episode::*number) {
  double sum = 0.0;
  for (const Episode& episode : episodes) sum += static_cast<double>(episode.*number);
  return sum / static_cast<double>(episodes.size());
}

template <typename Episode>
double MeanReturn(const std::vector<Episode>& episodes) {
  return MeanOf(episodes, &Episode::episode_return);
}

// How far the values of the searches of `role` can be trusted.
void AddValueMetrics(const std::string& role, const ValueSums& values, MetricMap* metrics) {
  if (values.count == 0) return;
  (*metrics)[absl::StrCat(role, "/value_bias")] = values.Bias();
  (*metrics)[absl::StrCat(role, "/value_error")] = values.MeanError();
  (*metrics)[absl::StrCat(role, "/value_correlation")] = values.Correlation();
}

// The metrics of an evaluation.
std::vector<Metric> EvaluationMetrics(double mean_return,
                                      const std::vector<EvaluatedEpisode>& episodes) {
  ValueSums values;
  std::vector<ValueAndReturn> compared;
  for (const EvaluatedEpisode& episode : episodes) {
    values += episode.values;
    compared.insert(compared.end(), episode.compared.begin(), episode.compared.end());
  }
  MetricMap metrics = {{"eval/return_mean", mean_return}};
  AddValueMetrics("eval", values, &metrics);
  int group = 0;
  for (const ValueAndReturn& means : Calibration(std::move(compared), kCalibrationGroups)) {
    metrics[absl::StrCat("calibration/value_", ++group)] = means.value;
    metrics[absl::StrCat("calibration/return_", group)] = means.followed;
  }
  return {metrics.begin(), metrics.end()};
}

}  // namespace

absl::Status Trainer::Evaluate() {
  WarnOfEndlessEpisodes();
  // Play the episodes.
  const ScopedTimer timer(&evaluate_time_);
  SetTensorThreads(static_cast<int>(config_.inference.num_threads));
  LZ_RETURN_IF_ERROR(evaluator_.inference->CopyWeightsFrom(learner_->model()));
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < config_.evaluate.episodes; ++i) {
    seeds.push_back(
        StreamKey(static_cast<uint64_t>(config_.seed), "evaluator_episode",
                  static_cast<uint64_t>(state_.evaluations) << 32 | static_cast<uint64_t>(i)));
  }
  // An evaluation that is interrupted stays due: a checkpoint made then leads back to it, with the
  // same weights.
  LZ_ASSIGN_OR_RETURN(const auto episodes,
                      evaluator_.evaluator->Run(seeds, {}, [this] { return IsStopped(); }));
  const bool was_due = TakeDue(config_.evaluate.every_updates, &state_.next_evaluation_update);
  // Count what was reached.
  const double mean = MeanReturn(episodes);
  if (was_due) ++state_.evaluations;  // not the one at the end: a continued run goes on as without
  state_.last_evaluation_update = state_.updates;
  state_.last_return = mean;
  state_.last_return_env_steps = state_.env_steps;
  ReadClock();
  // Whether the task is solved.
  const bool on_target =
      config_.stop.target_return.has_value() && mean >= *config_.stop.target_return;
  state_.target_streak = on_target ? state_.target_streak + 1 : 0;
  if (state_.target_streak >= config_.stop.patience && !state_.solved_env_steps.has_value()) {
    state_.solved_env_steps = state_.env_steps;
    state_.solved_wall_seconds = state_.wall_seconds;
    LZ_LOG_INFO(
        absl::StrFormat("solved: %d evaluations in a row with mean return >= %g, after %s "
                        "env steps and %.1f s",
                        config_.stop.patience, *config_.stop.target_return,
                        FormatCount(state_.env_steps), state_.wall_seconds));
  }
  // Write the results; keep the checkpoint of the best.
  LZ_RETURN_IF_ERROR(outputs_->WriteEvaluation(state_.env_steps, episodes));
  LZ_RETURN_IF_ERROR(
      outputs_->WriteScalars(state_.env_steps, state_.updates, EvaluationMetrics(mean, episodes)));
  return KeepEvaluated(mean);
}

// Saves what was evaluated as `best`, if it is: with one player the best so far, of equals the
// newest, which has learned from more. In self-play the return of player 0 is no measure of
// strength (perfect play of a drawn game scores 0): the newest.
absl::Status Trainer::KeepEvaluated(double mean_return) {
  if (plan_.env.num_players == 1) {
    if (state_.best_return.has_value() && mean_return < *state_.best_return) {
      return absl::OkStatus();
    }
    state_.best_return = mean_return;
  }
  state_.best_env_steps = state_.env_steps;
  LZ_RETURN_IF_ERROR(SaveCheckpoint());
  return outputs_->MarkBest(state_.env_steps);
}

// The run goes on, but not towards anything.
void Trainer::WarnOfBadModel(const MetricMap& metrics) {
  const auto warn = [](const std::optional<std::string>& warning, bool* warned) {
    if (*warned || !warning.has_value()) return;
    *warned = true;
    LZ_LOG_WARNING(*warning);
  };
  warn(CollapseWarning(metrics, state_.updates), &warned_of_collapse_);
  warn(DivergenceWarning(metrics), &warned_of_divergence_);
}

// Before an evaluation is waited for that may never end: no episode of the collector has.
void Trainer::WarnOfEndlessEpisodes() {
  if (plan_.env.max_episode_steps > 0 || state_.episodes > 0 || warned_of_no_end_ ||
      !collector_.collector->stats().episodes.empty()) {
    return;
  }
  warned_of_no_end_ = true;
  LZ_LOG_WARNING("no episode has ended in ", FormatCount(state_.env_steps), " env steps, and '",
                 plan_.env.id,
                 "' has no step cap: an evaluation may never end; Ctrl-C saves the "
                 "run, resume it with env.max_episode_steps=N");
}

absl::Status Trainer::WriteMetrics() {
  // The learner.
  MetricMap metrics = learner_->ReadMetrics();
  WarnOfBadModel(metrics);
  if (state_.updates / config_.train.log_every_updates % kOpenLoopEveryLines == 0) {
    LZ_ASSIGN_OR_RETURN(const MetricMap open_loop, learner_->MeasureOpenLoop());
    metrics.insert(open_loop.begin(), open_loop.end());
  }
  // Collected episodes and their searches.
  const CollectStats stats = collector_.collector->TakeStats();
  if (!stats.episodes.empty()) {
    collect_return_ = MeanReturn(stats.episodes);
    metrics["collect/return_mean"] = *collect_return_;
    metrics["collect/length_mean"] = MeanOf(stats.episodes, &FinishedEpisode::length);
    state_.episodes += static_cast<int64_t>(stats.episodes.size());
  }
  if (stats.num_interrupted > 0) {
    metrics["collect/interrupted_episodes"] = static_cast<double>(stats.num_interrupted);
  }
  AddValueMetrics("collect", stats.values, &metrics);
  if (stats.num_searches > 0) {
    const double searches = static_cast<double>(stats.num_searches);
    metrics["search/root_value"] = stats.root_value_sum / searches;
    metrics["search/depth_mean"] = stats.depth_sum / searches;
    metrics["search/entropy"] = stats.policy_entropy_sum / searches;
    if (stats.num_explored > 0) {
      metrics["collect/explored_share"] = static_cast<double>(stats.num_explored) / searches;
    }
  }
  // Replay, reanalyze and inference.
  const ReplayStats replay = replay_->stats();
  metrics["replay/size"] = static_cast<double>(replay.num_transitions);
  metrics["replay/eligible"] = static_cast<double>(replay.num_eligible);
  metrics["replay/mebibytes"] = static_cast<double>(replay.bytes) / (1 << 20);
  metrics["replay/reuse"] = static_cast<double>(replay.num_sampled) /
                            static_cast<double>(std::max<int64_t>(1, replay.num_appended));
  AddReanalyzeMetrics(replay.num_transitions, &metrics);
  for (const auto& [name, value] : collector_.inference->metrics(config_.deterministic)) {
    metrics[name] = value;
  }
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

void Trainer::AddReanalyzeMetrics(int64_t num_stored, MetricMap* metrics) {
  if (reanalyzer_.reanalyzer == nullptr) return;
  (*metrics)["reanalyze/positions"] = static_cast<double>(state_.reanalyzed);
  const ReanalyzeStats stats = reanalyzer_.reanalyzer->TakeStats();
  if (stats.num_positions == 0) return;
  const double positions = static_cast<double>(stats.num_positions);
  (*metrics)["reanalyze/share_of_stored"] =
      positions / static_cast<double>(std::max<int64_t>(1, num_stored));
  (*metrics)["reanalyze/value_change"] = stats.value_change_sum / positions;
  (*metrics)["reanalyze/age"] = stats.age_sum / positions;
  if (stats.num_policy_changes == 0) return;
  (*metrics)["reanalyze/policy_change"] =
      stats.policy_change_sum / static_cast<double>(stats.num_policy_changes);
}

void Trainer::ShowProgress() {
  const double now = MonotonicSeconds();
  const Progress::Rates rates = progress_.Mark(Counts(), now);
  const std::vector<FinishedEpisode>& episodes = collector_.collector->stats().episodes;
  if (!episodes.empty()) collect_return_ = MeanReturn(episodes);
  LZ_LOG_INFO(progress_.Line(Counts(), rates, config_.stop.max_env_steps, FractionOver(),
                             collect_return_, state_.last_return, Times(), now));
}

// The last line of a session: its means, nothing to come.
void Trainer::ShowSession() {
  const double now = MonotonicSeconds();
  const std::optional<Progress::Rates> rates = progress_.SessionRates(Counts(), now);
  if (!rates.has_value()) return;
  LZ_LOG_INFO(progress_.Line(Counts(), *rates, config_.stop.max_env_steps, std::nullopt,
                             collect_return_, state_.last_return, Times(), now));
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
  content.files["replay"] = replay_->ExportInParts();  // written before this returns to the loop
  LZ_ASSIGN_OR_RETURN(content.files["collector"], collector_.collector->Export());
  LZ_ASSIGN_OR_RETURN(content.files["contexts"], collector_.inference->ExportRoots());
  state_.sampler = sampler_.state();
  state_.reanalyzer = reanalyze_draws_.state();
  if (reanalyzer_.reanalyzer != nullptr) {
    state_.reanalyze_searches = reanalyzer_.reanalyzer->num_searches();
  }
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

absl::Status Trainer::Restore(const CheckpointContent& content) {
  LZ_CHECK(outputs_ != nullptr, "WriteTo comes first");
  // Read and check before anything changes.
  LZ_ASSIGN_OR_RETURN(const TrainingState state, TrainingStateFromJson(content.state_json));
  for (const char* name : {"replay", "collector", "contexts"}) {
    if (!content.files.contains(name)) {
      return absl::NotFoundError(absl::StrCat("the checkpoint has no ", name, ".safetensors"));
    }
  }
  // Put back learner, replay, collector and the contexts of its roots.
  LZ_RETURN_IF_ERROR(learner_->Import(content.files, state.updates));
  LZ_RETURN_IF_ERROR(Annotate(replay_->Import(content.files.at("replay")), "replay"));
  LZ_ASSIGN_OR_RETURN(const int restarted,
                      collector_.collector->Import(content.files.at("collector")));
  LZ_RETURN_IF_ERROR(HandBack());
  if (restarted > 0) {
    LZ_LOG_WARNING(restarted, " environments cannot be saved; they started a new episode");
  } else {
    LZ_RETURN_IF_ERROR(
        Annotate(collector_.inference->ImportRoots(content.files.at("contexts")), "contexts"));
  }
  // Put back counters, schedules and random streams.
  state_ = state;
  // The config may have got another target, and how often the old one was met says nothing about
  // it; without a target what was solved stays so. Or shorter intervals, which count from here, not
  // from the old next time.
  if (config_.stop.target_return.has_value() &&
      state_.target_return != config_.stop.target_return) {
    state_.target_return = config_.stop.target_return;
    state_.target_streak = 0;
    state_.solved_env_steps.reset();
    state_.solved_wall_seconds.reset();
  }
  state_.next_evaluation_update =
      std::min(state_.next_evaluation_update, state_.updates + config_.evaluate.every_updates);
  state_.next_checkpoint_update =
      std::min(state_.next_checkpoint_update, state_.updates + config_.checkpoint.every_updates);
  sampler_.set_state(state.sampler);
  reanalyze_draws_.set_state(state.reanalyzer);
  if (reanalyzer_.reanalyzer != nullptr) {
    reanalyzer_.reanalyzer->Clear();
    reanalyzer_.reanalyzer->set_num_searches(state.reanalyze_searches);
  }
  last_checkpoint_ = {state.env_steps, state.updates, state.last_evaluation_update};
  // After a roll-back: what was measured since then belongs to steps that are undone.
  learner_->ReadMetrics();
  collector_.collector->TakeStats();
  if (reanalyzer_.reanalyzer != nullptr) reanalyzer_.reanalyzer->TakeStats();
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
  return absl::OkStatus();
}

absl::Status Trainer::HandleBadUpdate(const absl::Status& bad) {
  const absl::StatusOr<std::string> folder =
      outputs_->DumpBadUpdate(state_.updates + 1, batches_->last(), learner_->Export());
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
  // Another stream of samples, or the same batch would come again.
  sampler_ = RandomStream(static_cast<uint64_t>(config_.seed), "sampler",
                          static_cast<uint64_t>(num_rollbacks_));
  return absl::OkStatus();
}

}  // namespace lzero
