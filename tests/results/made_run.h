// A run folder as training leaves it, without training: made of its own writers, for readers of
// run folders to read.
#ifndef LZERO_TESTS_RESULTS_MADE_RUN_H_
#define LZERO_TESTS_RESULTS_MADE_RUN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/config/dump.h"
#include "lzero/config/experiment_config.h"
#include "lzero/run/evaluation_files.h"
#include "lzero/run/metrics_writer.h"
#include "lzero/run/run_folder.h"
#include "lzero/run/status_file.h"

namespace lzero {

struct MadeRun {
  ExperimentConfig config;
  RunState state = RunState::kFinished;
  std::vector<std::pair<int64_t, double>> evaluations;  // env steps, mean return
  int64_t env_steps = 1000;
  absl::Time start_time = absl::FromUnixSeconds(1900000000);
  std::string name = "made";
};

inline void MakeRun(const std::string& path, const MadeRun& run) {
  RunDescription description;
  description.env_id = run.config.env.id;
  description.name = run.name;
  description.seed = run.config.seed;
  description.config_path = "made.yaml";
  description.resolved_text = ResolvedYaml(run.config);
  description.version = "0.1.0";
  description.git_commit = "abc1234";
  description.command_line = {"lzero", "train", "made.yaml"};
  description.start_time = run.start_time;
  LZ_CHECK(CreateRunFolderAt(path, description, "lzero").ok(), path);
  RunStatus status;
  status.state = run.state;
  status.env_steps = run.env_steps;
  LZ_CHECK(WriteStatusFile(path, status).ok(), path);
  for (const auto& [env_steps, mean] : run.evaluations) {
    const std::vector<EpisodeRow> episodes = {{7, mean - 1.0, 10}, {8, mean + 1.0, 12}};
    LZ_CHECK(WriteEvaluation(path, env_steps, SummarizeEpisodes(episodes, 1), episodes).ok(), path);
    const Metric metric("eval/return_mean", mean);
    LZ_CHECK(AppendFile(path + "/metrics.jsonl", FormatMetricsLine(env_steps, 1, {metric})).ok(),
             path);
  }
}

}  // namespace lzero

#endif  // LZERO_TESTS_RESULTS_MADE_RUN_H_
