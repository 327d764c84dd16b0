#include "lzero/run/evaluation_files.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/run/metrics_writer.h"
#include "lzero/run/run_folder.h"
#include "lzero/statistics/bootstrap.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

constexpr double kConfidence = 0.95;
constexpr int kNumResamples = 2000;
constexpr const char* kSummary = "summary.json";
constexpr const char* kEpisodes = "episodes.csv";

std::string EvaluationsOf(const std::string& run_dir) { return JoinPath(run_dir, "eval"); }

// "0,11,200,200,0,1": episode, seed, return, length, terminated, truncated.
bool ParseEpisode(absl::string_view line, size_t number, EpisodeRow* row) {
  const std::vector<std::string> cells = absl::StrSplit(line, ',');
  size_t episode = 0;
  return cells.size() == 6 && absl::SimpleAtoi(cells[0], &episode) && episode == number &&
         absl::SimpleAtoi(cells[1], &row->seed) &&
         absl::SimpleAtod(cells[2], &row->episode_return) &&
         absl::SimpleAtoi(cells[3], &row->length) && absl::SimpleAtob(cells[4], &row->terminated) &&
         absl::SimpleAtob(cells[5], &row->truncated);
}

}  // namespace

ReturnSummary SummarizeEpisodes(absl::Span<const EpisodeRow> episodes, uint64_t seed) {
  std::vector<double> returns, lengths;
  for (const EpisodeRow& episode : episodes) {
    returns.push_back(episode.episode_return);
    lengths.push_back(static_cast<double>(episode.length));
  }
  RandomStream random(seed, "evaluation bootstrap");
  ReturnSummary summary;
  summary.num_episodes = static_cast<int64_t>(episodes.size());
  summary.mean = Mean(returns);
  summary.median = Median(returns);
  summary.interquartile_mean = InterquartileMean(returns);
  summary.interval =
      BootstrapInterval(returns, InterquartileMean, kConfidence, kNumResamples, random);
  summary.standard_deviation = StandardDeviation(returns);
  summary.min = *std::min_element(returns.begin(), returns.end());
  summary.max = *std::max_element(returns.begin(), returns.end());
  summary.mean_length = Mean(lengths);
  return summary;
}

std::string EpisodesCsv(absl::Span<const EpisodeRow> episodes) {
  std::string text = "episode,seed,return,length,terminated,truncated\n";
  for (size_t i = 0; i < episodes.size(); ++i) {
    const EpisodeRow& row = episodes[i];
    absl::StrAppend(&text, i, ",", row.seed, ",", FormatNumber(row.episode_return), ",", row.length,
                    ",", row.terminated ? 1 : 0, ",", row.truncated ? 1 : 0, "\n");
  }
  return text;
}

std::string SummaryJson(const ReturnSummary& summary, int64_t env_steps) {
  nlohmann::ordered_json json;  // what is not finite becomes null
  json["env_steps"] = env_steps;
  json["num_episodes"] = summary.num_episodes;
  json["return_mean"] = summary.mean;
  json["return_median"] = summary.median;
  json["return_iqm"] = summary.interquartile_mean;
  json["return_iqm_interval"] = {summary.interval.low, summary.interval.high};
  json["confidence"] = kConfidence;
  json["return_std"] = summary.standard_deviation;
  json["return_min"] = summary.min;
  json["return_max"] = summary.max;
  json["length_mean"] = summary.mean_length;
  return json.dump(2) + "\n";
}

absl::StatusOr<std::string> WriteEvaluation(const std::string& run_dir, int64_t env_steps,
                                            const ReturnSummary& summary,
                                            absl::Span<const EpisodeRow> episodes,
                                            const std::string& task) {
  const std::string step = JoinPath(EvaluationsOf(run_dir), StepName(env_steps));
  const std::string folder = task.empty() ? step : JoinPath(step, task);
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(folder, kSummary), SummaryJson(summary, env_steps)));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(folder, kEpisodes), EpisodesCsv(episodes)));
  return folder;
}

absl::StatusOr<std::vector<EvaluationSummary>> ReadEvaluations(const std::string& run_dir) {
  std::vector<EvaluationSummary> evaluations;
  const std::string root = EvaluationsOf(run_dir);
  if (!IsDirectory(root)) return evaluations;
  LZ_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(root));
  for (const std::string& name : names) {
    const std::string path = JoinPath(JoinPath(root, name), kSummary);
    if (StepOf(name) < 0 || !FileExists(path)) continue;  // set aside, or being written
    LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    LZ_ASSIGN_OR_RETURN(const JsonReader json,
                        JsonReader::Parse(text, {path, absl::StatusCode::kDataLoss}));
    EvaluationSummary evaluation;
    json.Read("env_steps", &evaluation.env_steps);
    json.Read("num_episodes", &evaluation.num_episodes);
    json.Read("return_mean", &evaluation.mean);
    LZ_RETURN_IF_ERROR(json.status());
    evaluation.folder = JoinPath(root, name);
    evaluations.push_back(std::move(evaluation));
  }
  std::sort(evaluations.begin(), evaluations.end(),
            [](const auto& a, const auto& b) { return a.env_steps < b.env_steps; });
  return evaluations;
}

absl::StatusOr<std::vector<EpisodeRow>> ReadEpisodes(const std::string& folder) {
  const std::string path = JoinPath(folder, kEpisodes);
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  std::vector<EpisodeRow> rows(lines.size() - 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!ParseEpisode(lines[i + 1], i, &rows[i])) {
      return DamagedFile(absl::StrCat(path, ":", i + 2), "is no episode");
    }
  }
  if (rows.empty()) return DamagedFile(path, "holds no episode");
  return rows;
}

absl::StatusOr<std::vector<std::string>> RewindEvaluations(const std::string& run_dir,
                                                           int64_t env_steps) {
  return SetLaterStepsAside(EvaluationsOf(run_dir), env_steps);
}

}  // namespace lzero
