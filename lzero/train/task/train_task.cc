#include "lzero/train/task/train_task.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/train/task/task_metrics.h"
#include "lzero/worker/move_grading.h"

namespace lzero {
namespace {

constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

template <typename Number>
double MeanOf(const std::vector<FinishedEpisode>& episodes, Number FinishedEpisode::*number) {
  double sum = 0.0;
  for (const FinishedEpisode& episode : episodes) sum += static_cast<double>(episode.*number);
  return sum / static_cast<double>(episodes.size());
}

}  // namespace

TrainTask::TrainTask(const ExperimentConfig& config, const EnvSpec& spec, bool is_only_task)
    : config_(config),
      spec_(spec),
      metric_prefix_(is_only_task ? "" : absl::StrCat("task/", config.name, "/")),
      sampler_(static_cast<uint64_t>(config.seed), "sampler"),
      reanalyze_draws_(static_cast<uint64_t>(config.seed), "reanalyze_draws") {
  const std::string prefix = is_only_task ? "" : absl::StrCat("task.", config.name, ".");
  replay_file_ = absl::StrCat(prefix, "replay");
  collector_file_ = absl::StrCat(prefix, "collector");
  contexts_file_ = absl::StrCat(prefix, "contexts");
  batch_file_ = absl::StrCat(prefix, "batch");
  state_.name = config.name;
  state_.target_return = config.stop.target_return;
}

absl::StatusOr<std::unique_ptr<TrainTask>> TrainTask::Create(const ExperimentConfig& config,
                                                             const EnvSpec& spec,
                                                             const EnvRegistry& registry,
                                                             bool is_only_task, ThreadPool* pool) {
  std::unique_ptr<TrainTask> task(new TrainTask(config, spec, is_only_task));
  LZ_ASSIGN_OR_RETURN(task->replay_,
                      ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec)));
  task->batches_ = std::make_unique<BatchSampler>(task->replay_.get(), &task->sampler_,
                                                  static_cast<int>(config.train.batch_size),
                                                  /*draws_ahead=*/!config.replay.prioritized);
  LZ_ASSIGN_OR_RETURN(task->collector_, BuildCollector(config, registry, pool));
  LZ_ASSIGN_OR_RETURN(
      task->evaluator_,
      BuildEvaluator(config, registry, config.env.num_evaluators,
                     config.evaluate.num_simulations.value_or(config.search.num_simulations),
                     pool));
  LZ_ASSIGN_OR_RETURN(task->reanalyzer_, BuildReanalyzer(config, registry));
  if (config.score.measure == ScoreMeasure::kGrade) {
    LZ_ASSIGN_OR_RETURN(task->grader_, registry.MakeGrader(config.env.id));
  }
  return task;
}

bool TrainTask::HasReachedLimitAt(int64_t env_steps) const {
  const std::optional<int64_t>& limit = config_.stop.max_env_steps;
  return is_evaluated_only_ || (limit.has_value() && env_steps >= *limit);
}

int64_t TrainTask::NumTailSteps() const {
  if (is_evaluated_only_) return 0;
  return static_cast<int64_t>(std::ceil(static_cast<double>(config_.train.tail_updates) /
                                        config_.train.updates_per_env_step));
}

std::optional<double> TrainTask::FractionOver() const {
  if (is_evaluated_only_ || !config_.stop.max_env_steps.has_value()) return std::nullopt;
  return static_cast<double>(state_.env_steps + state_.tail_steps) /
         static_cast<double>(*config_.stop.max_env_steps + NumTailSteps());
}

int64_t TrainTask::DueAt(double ratio, int64_t steps) const {
  const int64_t counted = std::max<int64_t>(0, steps - config_.train.start_env_steps);
  // A ratio such as 0.29 is a little less in binary: 29 are due after 100 steps, not 28.
  return static_cast<int64_t>(std::floor(static_cast<double>(counted) * ratio * (1.0 + kRounding)));
}

std::optional<int64_t> TrainTask::MostUpdates() const {
  if (!config_.stop.max_env_steps.has_value()) return std::nullopt;
  return DueAt(config_.train.updates_per_env_step, *config_.stop.max_env_steps + NumTailSteps());
}

int64_t TrainTask::UpdatesOwed() const {
  // Before any position has all its targets the updates wait; they are made up for later.
  if (replay_->stats().num_eligible == 0) return 0;
  return std::max<int64_t>(0, DueAt(config_.train.updates_per_env_step) - state_.updates);
}

int64_t TrainTask::ReanalysesOwed() const {
  if (reanalyzer_.reanalyzer == nullptr) return 0;
  const int64_t due = config_.replay.fresh_share > 0.0 ? static_cast<int64_t>(state_.reanalyses_due)
                                                       : DueAt(config_.replay.reanalyze_ratio);
  const int64_t owed = due - state_.reanalyzed;
  return owed - owed % reanalyzer_.reanalyzer->batch_size();
}

absl::StatusOr<TaskBatch> TrainTask::NextBatch(size_t index, bool another_follows) {
  const ScopedTimer timer(&copy_time_);
  LZ_ASSIGN_OR_RETURN(const TrainBatch* batch, batches_->Next(another_follows));
  return TaskBatch{index, batch, config_.replay.prioritized ? &priorities_ : nullptr};
}

void TrainTask::EndUpdate() {
  if (config_.replay.prioritized) {
    replay_->UpdatePriorities(batches_->last().positions, priorities_);
  }
  ++state_.updates;
}

absl::Status TrainTask::HandBack(const Network& model) {
  const ScopedTimer timer(&copy_time_);
  return collector_.inference->CopyWeightsFrom(NetworkWeights(model));
}

absl::Status TrainTask::PrepareReanalyze(const std::function<const Network&()>& target) {
  reanalyzed_.clear();
  const int64_t num_positions = ReanalysesOwed();
  if (num_positions == 0) return absl::OkStatus();
  const ScopedTimer timer(&reanalyze_time_);
  // All stored positions alike: the learner samples them so too. The one searched longest ago would
  // be the better choice while replay grows, but once it is full and the ratio below 1 that one is
  // always about to be evicted.
  replay_->DrawPositions(num_positions, reanalyze_draws_, &reanalyzed_);
  return reanalyzer_.inference->CopyWeightsFrom(NetworkWeights(target()));
}

absl::Status TrainTask::CollectAndReanalyze() {
  int64_t env_steps = state_.env_steps;
  for (int64_t step = 0; step < config_.train.steps_per_round; ++step) {
    if (HasReachedLimitAt(env_steps)) break;
    LZ_RETURN_IF_ERROR(collector_.collector->Step(env_steps));
    env_steps += collector_.collector->num_envs();
  }
  if (reanalyzed_.empty()) return absl::OkStatus();
  const ScopedTimer timer(&reanalyze_time_);
  return Annotate(reanalyzer_.reanalyzer->Search(reanalyzed_, *replay_, state_.env_steps),
                  "reanalyze");
}

absl::Status TrainTask::StoreCollected() {
  const int64_t steps_before = state_.env_steps + state_.tail_steps;
  if (HasReachedLimitAt(state_.env_steps) && !HasReachedLimit()) {
    state_.tail_steps =
        std::min(NumTailSteps(),
                 state_.tail_steps + config_.env.num_collectors * config_.train.steps_per_round);
  }
  if (!reanalyzed_.empty()) {
    const ScopedTimer timer(&reanalyze_time_);
    // Before new steps recycle positions.
    reanalyzer_.reanalyzer->WriteBack(replay_.get());
    state_.reanalyzed += static_cast<int64_t>(reanalyzed_.size());
    reanalyzed_.clear();
  }
  const ScopedTimer timer(&copy_time_);
  state_.env_steps += collector_.collector->staged().num_steps();
  const int64_t first_step = std::max(steps_before, config_.train.start_env_steps);
  const int64_t num_steps = state_.env_steps + state_.tail_steps - first_step;
  if (config_.replay.fresh_share > 0.0 && num_steps > 0) {
    state_.reanalyses_due += static_cast<double>(num_steps) *
                             config_.replay.ReanalyzeRatioAt(replay_->stats().num_transitions,
                                                             config_.train.updates_per_env_step);
  }
  return collector_.collector->staged().MoveTo(*replay_);
}

absl::StatusOr<TaskEvaluation> TrainTask::Evaluate(const Network& model, int64_t evaluation,
                                                   const std::function<bool()>& stop) {
  LZ_RETURN_IF_ERROR(evaluator_.inference->CopyWeightsFrom(NetworkWeights(model)));
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < config_.evaluate.episodes; ++i) {
    seeds.push_back(StreamKey(static_cast<uint64_t>(config_.seed), "evaluator_episode",
                              static_cast<uint64_t>(evaluation) << 32 | static_cast<uint64_t>(i)));
  }
  TaskEvaluation made;
  LZ_ASSIGN_OR_RETURN(made.episodes, evaluator_.evaluator->Run(seeds, {}, stop));
  if (grader_ != nullptr) {
    LZ_ASSIGN_OR_RETURN(const GradeReport report, GradeMoves(*grader_, /*with_search=*/true, stop,
                                                             evaluator_.evaluator.get()));
    made.grade = report.optimal_fraction();
  }
  return made;
}

bool TrainTask::CountEvaluation(const TaskEvaluation& evaluation, double wall_seconds) {
  const double mean_return = MeanReturn(evaluation.episodes);
  const double measured = evaluation.grade.value_or(mean_return);
  state_.last_return = mean_return;
  if (config_.score.is_set()) state_.last_score = config_.score.Normalized(measured);
  if (spec_.num_players == 1 && mean_return >= state_.best_return.value_or(mean_return)) {
    state_.best_return = mean_return;
  }
  const StopConfig& stop = config_.stop;
  const bool on_target = stop.target_return.has_value() && measured >= *stop.target_return;
  state_.target_streak = on_target ? state_.target_streak + 1 : 0;
  if (state_.target_streak < stop.patience || state_.solved_env_steps.has_value()) return false;
  state_.solved_env_steps = state_.env_steps;
  state_.solved_wall_seconds = wall_seconds;
  return true;
}

TaskScore TrainTask::Score() const {
  return {config_.name, *state_.last_return, state_.last_score};
}

bool TrainTask::HasReachedTarget() const {
  return config_.stop.target_return.has_value() && state_.target_streak >= config_.stop.patience;
}

std::optional<double> TrainTask::CollectReturn() {
  const std::vector<FinishedEpisode>& episodes = collector_.collector->stats().episodes;
  if (!episodes.empty()) collect_return_ = MeanOf(episodes, &FinishedEpisode::episode_return);
  return collect_return_;
}

ProgressCounts TrainTask::Counts() const {
  const int64_t num_searches = state_.env_steps + state_.reanalyzed;
  return {state_.env_steps, state_.updates, num_searches * config_.search.num_simulations};
}

ProgressTimes TrainTask::Times() const {
  ProgressTimes times;
  times.env = collector_.collector->env_seconds();
  times.network = collector_.inference->network_seconds();
  times.copy = collector_.inference->copy_seconds() + copy_time_.seconds();
  times.tree =
      collector_.collector->search_seconds() - times.network - collector_.inference->copy_seconds();
  times.reanalyze = reanalyze_time_.seconds();
  return times;
}

void TrainTask::AddMetrics(MetricMap* metrics) {
  MetricMap own;
  // Collected episodes and their searches.
  CollectReturn();
  const CollectStats stats = collector_.collector->TakeStats();
  if (!stats.episodes.empty()) {
    own["collect/return_mean"] = *collect_return_;
    own["collect/length_mean"] = MeanOf(stats.episodes, &FinishedEpisode::length);
    state_.episodes += static_cast<int64_t>(stats.episodes.size());
  }
  if (stats.num_interrupted > 0) {
    own["collect/interrupted_episodes"] = static_cast<double>(stats.num_interrupted);
  }
  AddValueMetrics("collect", stats.values, &own);
  if (stats.num_searches > 0) {
    const double searches = static_cast<double>(stats.num_searches);
    own["search/root_value"] = stats.root_value_sum / searches;
    own["search/depth_mean"] = stats.depth_sum / searches;
    own["search/entropy"] = stats.policy_entropy_sum / searches;
    if (config_.env.count_bonus > 0.0) own["collect/count_bonus"] = stats.bonus_sum / searches;
    if (stats.num_explored > 0) {
      own["collect/explored_share"] = static_cast<double>(stats.num_explored) / searches;
    }
  }
  // Replay, reanalyze and inference.
  const ReplayStats replay = replay_->stats();
  own["replay/size"] = static_cast<double>(replay.num_transitions);
  own["replay/eligible"] = static_cast<double>(replay.num_eligible);
  own["replay/mebibytes"] = static_cast<double>(replay.bytes) / (1 << 20);
  own["replay/reuse"] = static_cast<double>(replay.num_sampled) /
                        static_cast<double>(std::max<int64_t>(1, replay.num_appended));
  AddReanalyzeMetrics(replay.num_transitions, &own);
  for (const auto& [name, value] : collector_.inference->metrics(config_.deterministic)) {
    own[name] = value;
  }
  if (!metric_prefix_.empty()) {  // of an only task they are those of the run
    own["env_steps"] = static_cast<double>(state_.env_steps);
    own["updates"] = static_cast<double>(state_.updates);
  }
  for (const auto& [name, value] : own) (*metrics)[absl::StrCat(metric_prefix_, name)] = value;
}

void TrainTask::AddReanalyzeMetrics(int64_t num_stored, MetricMap* metrics) {
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

absl::Status TrainTask::Export(std::map<std::string, std::vector<NamedArray>>* files) {
  (*files)[replay_file_] = replay_->ExportInParts();  // written before the run goes on
  LZ_ASSIGN_OR_RETURN((*files)[collector_file_], collector_.collector->Export());
  LZ_ASSIGN_OR_RETURN((*files)[contexts_file_], collector_.inference->ExportRoots());
  state_.sampler = sampler_.state();
  state_.reanalyzer = reanalyze_draws_.state();
  if (reanalyzer_.reanalyzer != nullptr) {
    state_.reanalyze_searches = reanalyzer_.reanalyzer->num_searches();
  }
  return absl::OkStatus();
}

absl::Status TrainTask::CheckFiles(
    const std::map<std::string, std::vector<NamedArray>>& files) const {
  for (const std::string& name : {replay_file_, collector_file_, contexts_file_}) {
    if (!files.contains(name)) {
      return absl::NotFoundError(absl::StrCat("the checkpoint has no ", name, ".safetensors"));
    }
  }
  return absl::OkStatus();
}

absl::Status TrainTask::Import(const std::map<std::string, std::vector<NamedArray>>& files,
                               const TaskState& state, const Network& model) {
  // Replay, collector and the contexts of its roots.
  LZ_RETURN_IF_ERROR(Annotate(replay_->Import(files.at(replay_file_)), replay_file_));
  LZ_ASSIGN_OR_RETURN(const int restarted, collector_.collector->Import(files.at(collector_file_)));
  LZ_RETURN_IF_ERROR(HandBack(model));
  if (restarted > 0) {
    LZ_LOG_WARNING(restarted, " environments cannot be saved; they started a new episode");
  } else {
    LZ_RETURN_IF_ERROR(
        Annotate(collector_.inference->ImportRoots(files.at(contexts_file_)), contexts_file_));
  }
  // Counters and random streams.
  state_ = state;
  // The config may have got another target, and how often the old one was met says nothing about
  // it; without a target what was solved stays so.
  const std::optional<double>& target = config_.stop.target_return;
  if (target.has_value() && state_.target_return != target) {
    state_.target_return = target;
    state_.target_streak = 0;
    state_.solved_env_steps.reset();
    state_.solved_wall_seconds.reset();
  }
  sampler_.set_state(state.sampler);
  reanalyze_draws_.set_state(state.reanalyzer);
  // After a roll-back: what was measured since then belongs to steps that are undone.
  collector_.collector->TakeStats();
  if (reanalyzer_.reanalyzer != nullptr) {
    reanalyzer_.reanalyzer->Clear();
    reanalyzer_.reanalyzer->set_num_searches(state.reanalyze_searches);
    reanalyzer_.reanalyzer->TakeStats();
  }
  return absl::OkStatus();
}

void TrainTask::RestartSampler(int64_t number) {
  sampler_ =
      RandomStream(static_cast<uint64_t>(config_.seed), "sampler", static_cast<uint64_t>(number));
}

}  // namespace lzero
