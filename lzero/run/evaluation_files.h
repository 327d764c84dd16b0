// What an evaluation leaves behind: its episodes, their summary, and the two files of both, written
// and read. WriteEvaluation and the readers touch the disk; the rest are pure functions.
#ifndef LZERO_RUN_EVALUATION_FILES_H_
#define LZERO_RUN_EVALUATION_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/statistics/statistics.h"

namespace lzero {

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
// same step; of a `task` that has a name in the folder of that name there. Returns the folder.
absl::StatusOr<std::string> WriteEvaluation(const std::string& run_dir, int64_t env_steps,
                                            const ReturnSummary& summary,
                                            absl::Span<const EpisodeRow> episodes,
                                            const std::string& task = "");

// The summaries of all evaluations of a run, by their env steps; none where it made none. DataLoss
// names a damaged file.
struct EvaluationSummary {
  int64_t env_steps = 0;
  int64_t num_episodes = 0;
  double mean = 0.0;  // of the episodes' returns
  std::string folder;
};
absl::StatusOr<std::vector<EvaluationSummary>> ReadEvaluations(const std::string& run_dir);

// The episodes in `folder`/episodes.csv. DataLoss names file and line.
absl::StatusOr<std::vector<EpisodeRow>> ReadEpisodes(const std::string& folder);

// For a run that goes back to `env_steps` (-1: to its start): sets later evaluations aside, see
// SetLaterStepsAside.
absl::StatusOr<std::vector<std::string>> RewindEvaluations(const std::string& run_dir,
                                                           int64_t env_steps);

}  // namespace lzero

#endif  // LZERO_RUN_EVALUATION_FILES_H_
