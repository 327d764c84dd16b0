// Statistics of evaluation returns and the two files that record an evaluation. Pure functions of
// their arguments; WriteEvaluation alone touches the disk.
#ifndef LZERO_RUN_STATISTICS_H_
#define LZERO_RUN_STATISTICS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"

namespace lzero {

// Statistics of `values` [n]: the caller must give at least one value.
double Mean(absl::Span<const double> values);
// The middle value, or the mean of the two middle ones.
double Median(absl::Span<const double> values);
// Sample standard deviation (n - 1); 0 for one value.
double StandardDeviation(absl::Span<const double> values);
// Interquartile mean: the mean after the floor(n / 4) smallest and largest values are left out.
// [Agarwal et al. 2021, Deep RL at the edge of the statistical precipice]
double InterquartileMean(absl::Span<const double> values);
// Value at `fraction` (0 .. 1) of the sorted values, linear between neighbours.
double Quantile(absl::Span<const double> values, double fraction);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

using Statistic = std::function<double(absl::Span<const double>)>;

// Percentile bootstrap: the central `confidence` (0 .. 1) of `statistic` over `num_resamples`
// samples of the same size drawn with replacement. [Efron 1979]
Interval BootstrapInterval(absl::Span<const double> values, const Statistic& statistic,
                           double confidence, int num_resamples, RandomStream& random);

struct EpisodeRow {
  uint64_t seed = 0;
  double episode_return = 0.0;
  int64_t length = 0;  // steps
  bool terminated = false;
  bool truncated = false;
};

struct ReturnSummary {
  int64_t num_episodes = 0;
  double mean = 0.0;
  double median = 0.0;
  double interquartile_mean = 0.0;
  Interval interval;  // 95 %, of the interquartile mean
  double standard_deviation = 0.0;
  double min = 0.0;
  double max = 0.0;
  double mean_length = 0.0;
};

// Summary of at least one episode; the bootstrap (2,000 resamples) draws from a stream of its own
// keyed by `seed`, so that equal episodes give an equal summary.
ReturnSummary SummarizeEpisodes(absl::Span<const EpisodeRow> episodes, uint64_t seed);

// Header "episode,seed,return,length,terminated,truncated" and a line an episode.
std::string EpisodesCsv(absl::Span<const EpisodeRow> episodes);

// One JSON object with env_steps and the fields of the summary.
std::string SummaryJson(const ReturnSummary& summary, int64_t env_steps);

// Writes `run_dir`/eval/step_000010000/{summary.json,episodes.csv}, replacing older ones of the
// same step. Returns the folder.
absl::StatusOr<std::string> WriteEvaluation(const std::string& run_dir, int64_t env_steps,
                                            const ReturnSummary& summary,
                                            absl::Span<const EpisodeRow> episodes);

// For a run that goes back to `env_steps` (-1: to its start): sets later evaluations aside, see
// SetLaterStepsAside.
absl::StatusOr<std::vector<std::string>> RewindEvaluations(const std::string& run_dir,
                                                           int64_t env_steps);

}  // namespace lzero

#endif  // LZERO_RUN_STATISTICS_H_
