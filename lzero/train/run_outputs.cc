#include "lzero/train/run_outputs.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/player/episode_rows.h"
#include "lzero/run/safetensors.h"
#include "lzero/run/tensorboard_writer.h"

namespace lzero {
namespace {

std::vector<NamedArray> BatchArrays(const TrainBatch& batch) {
  std::vector<NamedArray> arrays;
  VisitArrays(batch, batch.shape(),
              [&](const char* name, const auto& values, const ArrayDims& dims) {
                if (dims[0] == 0) return;  // the shape has none
                arrays.push_back(MakeNamedArray(name, absl::MakeConstSpan(values), dims));
              });
  return arrays;
}

}  // namespace

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
                                         const std::vector<EvaluatedEpisode>& episodes,
                                         const std::string& task) {
  const std::vector<EpisodeRow> rows = ToRows(episodes);
  const ReturnSummary summary = SummarizeEpisodes(rows, static_cast<uint64_t>(env_steps));
  return lzero::WriteEvaluation(run_dir_, env_steps, summary, rows, task).status();
}

absl::Status RunOutputs::WriteScores(int64_t env_steps, const ScoreTable& scores) {
  std::vector<EpisodeRow> rows;
  for (const double score : scores.Bounded()) {
    rows.push_back({.seed = rows.size(), .episode_return = score, .terminated = true});
  }
  if (rows.empty()) return absl::OkStatus();
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
    LZ_LOG_WARNING("newer than where the run goes on from, set aside: ",
                   absl::StrJoin(set_aside, ", "));
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
    int64_t number, const std::map<std::string, const TrainBatch*>& batches,
    const std::map<std::string, std::vector<NamedArray>>& weights) {
  const std::string folder = JoinPath(run_dir_, absl::StrCat("bad_update_", number));
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  for (const auto& [name, batch] : batches) {
    LZ_RETURN_IF_ERROR(
        WriteSafetensors(JoinPath(folder, name + ".safetensors"), BatchArrays(*batch)).status());
  }
  for (const auto& [name, arrays] : weights) {
    LZ_RETURN_IF_ERROR(WriteSafetensors(JoinPath(folder, name + ".safetensors"), arrays).status());
  }
  return folder;
}

}  // namespace lzero
