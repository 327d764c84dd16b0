#include "lzero/run/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/run/metrics_writer.h"
#include "lzero/run/run_folder.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

constexpr double kConfidence = 0.95;
constexpr int kNumResamples = 2000;

std::string EvaluationsOf(const std::string& run_dir) { return JoinPath(run_dir, "eval"); }

std::vector<double> Sorted(absl::Span<const double> values) {
  LZ_CHECK(!values.empty(), "statistics of no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double Mean(absl::Span<const double> values) {
  LZ_CHECK(!values.empty(), "mean of no values");
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Median(absl::Span<const double> values) { return Quantile(values, 0.5); }

double StandardDeviation(absl::Span<const double> values) {
  const double mean = Mean(values);
  if (values.size() == 1) return 0.0;
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double InterquartileMean(absl::Span<const double> values) {
  const std::vector<double> sorted = Sorted(values);
  const size_t cut = sorted.size() / 4;
  return Mean(absl::MakeConstSpan(sorted).subspan(cut, sorted.size() - 2 * cut));
}

double Quantile(absl::Span<const double> values, double fraction) {
  LZ_CHECK(fraction >= 0.0 && fraction <= 1.0, "fraction ", fraction);
  const std::vector<double> sorted = Sorted(values);
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 == sorted.size()) return sorted[below];
  const double weight = position - static_cast<double>(below);
  return sorted[below] * (1.0 - weight) + sorted[below + 1] * weight;
}

Interval BootstrapInterval(absl::Span<const double> values, const Statistic& statistic,
                           double confidence, int num_resamples, RandomStream& random) {
  LZ_CHECK(!values.empty() && num_resamples > 0, "bootstrap of no values or no resamples");
  LZ_CHECK(confidence > 0.0 && confidence < 1.0, "confidence ", confidence);
  std::vector<double> statistics, resample(values.size());
  for (int i = 0; i < num_resamples; ++i) {
    for (double& value : resample) {
      value = values[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(values.size())))];
    }
    statistics.push_back(statistic(resample));
  }
  const double tail = (1.0 - confidence) / 2.0;
  return {Quantile(statistics, tail), Quantile(statistics, 1.0 - tail)};
}

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
                                            absl::Span<const EpisodeRow> episodes) {
  const std::string folder = JoinPath(EvaluationsOf(run_dir), StepName(env_steps));
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  LZ_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(folder, "summary.json"), SummaryJson(summary, env_steps)));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(folder, "episodes.csv"), EpisodesCsv(episodes)));
  return folder;
}

absl::StatusOr<std::vector<std::string>> RewindEvaluations(const std::string& run_dir,
                                                           int64_t env_steps) {
  return SetLaterStepsAside(EvaluationsOf(run_dir), env_steps);
}

}  // namespace lzero
