#include "lzero/train/run_outputs.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/run/safetensors.h"
#include "lzero/run/tensorboard_writer.h"

namespace lzero {
namespace {

std::vector<NamedArray> BatchArrays(const TrainBatch& batch) {
  const int64_t n = batch.num_samples, c = batch.num_context_steps, u = batch.num_unroll_steps;
  const int64_t a = batch.num_actions, obs = batch.observation_size;
  std::vector<NamedArray> arrays;
  const auto add = [&arrays](const char* name, const auto& values, std::vector<int64_t> shape) {
    arrays.push_back(MakeNamedArray(name, absl::MakeConstSpan(values), std::move(shape)));
  };
  const bool are_bytes = batch.observation_type == ObservationType::kUint8;
  const auto add_observations = [&](const char* name, const std::vector<float>& numbers,
                                    const std::vector<uint8_t>& bytes, int64_t length) {
    if (are_bytes) {
      add(name, bytes, {n, length, obs});
    } else {
      add(name, numbers, {n, length, obs});
    }
  };
  // The sequence.
  add_observations("observations", batch.observations, batch.observation_bytes, c + u + 1);
  if (batch.action_dim > 0) {
    add("action_values", batch.action_values, {n, c + u, batch.action_dim});
    add("sampled_actions", batch.sampled_actions, {n, u, a, batch.action_dim});
  } else {
    add("actions", batch.actions, {n, c + u});
    add("legal_action_masks", batch.legal_action_masks, {n, u, a});
  }
  if (batch.has_chance) add("chance_outcomes", batch.chance_outcomes, {n, u});
  add("context_mask", batch.context_mask, {n, c});
  // Targets, where each may be used, and bootstraps.
  add("rewards", batch.rewards, {n, u});
  add("reward_mask", batch.reward_mask, {n, u});
  add("latent_mask", batch.latent_mask, {n, u});
  add("policies", batch.policies, {n, u, a});
  add("policy_mask", batch.policy_mask, {n, u});
  add("value_mask", batch.value_mask, {n, u});
  add("partial_returns", batch.partial_returns, {n, u});
  add("bootstrap_scales", batch.bootstrap_scales, {n, u});
  add_observations("bootstrap_observations", batch.bootstrap_observations,
                   batch.bootstrap_observation_bytes, u);
  add("importance_weights", batch.importance_weights, {n});
  return arrays;
}

}  // namespace

std::vector<EpisodeRow> ToRows(const std::vector<EvaluatedEpisode>& episodes) {
  std::vector<EpisodeRow> rows;
  for (const EvaluatedEpisode& episode : episodes) {
    rows.push_back({episode.seed, episode.episode_return, episode.length, episode.terminated,
                    episode.truncated});
  }
  return rows;
}

absl::StatusOr<std::unique_ptr<RunOutputs>> RunOutputs::Create(const std::string& run_dir,
                                                               int64_t keep) {
  LZ_ASSIGN_OR_RETURN(auto tensorboard, TensorBoardWriter::Create(JoinPath(run_dir, "tb")));
  LZ_ASSIGN_OR_RETURN(auto metrics, MetricsWriter::Create(run_dir, std::move(tensorboard)));
  return std::unique_ptr<RunOutputs>(new RunOutputs(run_dir, keep, std::move(metrics)));
}

RunOutputs::RunOutputs(std::string run_dir, int64_t keep, std::unique_ptr<MetricsWriter> metrics)
    : run_dir_(std::move(run_dir)), keep_(keep), metrics_(std::move(metrics)) {}

absl::Status RunOutputs::WriteScalars(int64_t env_steps, int64_t updates,
                                      const std::vector<Metric>& metrics) {
  return metrics_->Write(env_steps, updates, metrics);
}

absl::Status RunOutputs::WriteEvaluation(int64_t env_steps,
                                         const std::vector<EvaluatedEpisode>& episodes) {
  const std::vector<EpisodeRow> rows = ToRows(episodes);
  const ReturnSummary summary = SummarizeEpisodes(rows, static_cast<uint64_t>(env_steps));
  return lzero::WriteEvaluation(run_dir_, env_steps, summary, rows).status();
}

absl::Status RunOutputs::WriteCheckpoint(int64_t env_steps, const CheckpointContent& content) {
  return lzero::WriteCheckpoint(run_dir_, env_steps, content, keep_).status();
}

absl::Status RunOutputs::MarkBest(int64_t env_steps) {
  return MarkBestCheckpoint(run_dir_, env_steps);
}

absl::Status RunOutputs::Rewind(int64_t env_steps, int64_t metrics_bytes) {
  LZ_RETURN_IF_ERROR(metrics_->CheckOffset(metrics_bytes));
  std::vector<std::string> set_aside;
  if (env_steps >= 0) {
    LZ_ASSIGN_OR_RETURN(set_aside, lzero::RewindCheckpoints(run_dir_, env_steps));
  }
  LZ_ASSIGN_OR_RETURN(const auto evaluations, RewindEvaluations(run_dir_, env_steps));
  set_aside.insert(set_aside.end(), evaluations.begin(), evaluations.end());
  if (!set_aside.empty() || env_steps < 0) {
    LZ_ASSIGN_OR_RETURN(const std::string metrics, metrics_->CopyBehind(metrics_bytes));
    if (!metrics.empty()) set_aside.push_back(metrics);
  }
  if (!set_aside.empty()) {
    LZ_LOG_WARNING("of the past that is undone, set aside: ", absl::StrJoin(set_aside, ", "));
  }
  // Last: a run that is killed before, once `latest` is moved, is taken back here again.
  return metrics_->TruncateTo(metrics_bytes, env_steps);
}

absl::StatusOr<CheckpointContent> RunOutputs::ReadLatestCheckpoint() const {
  LZ_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, ReadCheckpoint(run_dir_));
  return std::move(loaded.content);
}

absl::Status RunOutputs::WriteStatus(RunStatus status) {
  status.process_id = getpid();
  status.updated_time = absl::Now();
  return WriteStatusFile(run_dir_, status);
}

absl::StatusOr<std::string> RunOutputs::DumpBadUpdate(
    int64_t number, const TrainBatch& batch,
    const std::map<std::string, std::vector<NamedArray>>& weights) {
  const std::string folder = JoinPath(run_dir_, absl::StrCat("bad_update_", number));
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  LZ_RETURN_IF_ERROR(
      WriteSafetensors(JoinPath(folder, "batch.safetensors"), BatchArrays(batch)).status());
  for (const auto& [name, arrays] : weights) {
    LZ_RETURN_IF_ERROR(WriteSafetensors(JoinPath(folder, name + ".safetensors"), arrays).status());
  }
  return folder;
}

}  // namespace lzero
