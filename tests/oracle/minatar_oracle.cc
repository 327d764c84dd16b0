// Oracle test: minatar_oracle PYTHON SCRIPT FOLDER runs tools/record/record_minatar_traces.py, then
// plays what it recorded: every episode whole, from its seed. Exit code 77, "not run", when that
// Python has no MinAtar.
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/minatar/recorded_episodes.h"
#include "tests/oracle/recording.h"

namespace {

struct Counts {
  int64_t num_episodes = 0;
  int64_t num_steps = 0;
  int64_t num_differences = 0;
};
using CountsByEnv = std::map<std::string, Counts>;

absl::Status PlayTrace(const lzero::EnvRegistry& registry, const std::string& text,
                       CountsByEnv& counts) {
  LZ_ASSIGN_OR_RETURN(const lzero::Trace trace, lzero::ParseTrace(text));
  lzero::EnvOptions options;
  options.settings = trace.meta.settings;
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(trace.meta.env, options));
  LZ_ASSIGN_OR_RETURN(const auto report, lzero::ReplayTrace(*env, trace, /*whole=*/true));
  for (const std::string& difference : report.differences) {
    std::cout << trace.meta.env << ": " << difference << "\n";
  }
  Counts& count = counts[trace.meta.env];
  count.num_episodes += report.num_episodes;
  count.num_steps += report.num_steps;
  count.num_differences += static_cast<int64_t>(report.differences.size());
  return absl::OkStatus();
}

absl::Status PlayEpisodes(const lzero::EnvRegistry& registry, const std::string& text,
                          CountsByEnv& counts) {
  LZ_ASSIGN_OR_RETURN(const auto episodes, lzero::ParseRecordedEpisodes(text));
  for (const lzero::RecordedEpisode& episode : episodes) {
    LZ_ASSIGN_OR_RETURN(const std::string difference, lzero::FirstDifference(registry, episode));
    if (!difference.empty()) std::cout << difference << "\n";
    Counts& count = counts[episode.env];
    count.num_episodes += 1;
    count.num_steps += static_cast<int64_t>(episode.actions.size());
    count.num_differences += difference.empty() ? 0 : 1;
  }
  return absl::OkStatus();
}

int CompareAll(const std::string& folder) {
  lzero::EnvRegistry registry;
  lzero::RegisterAllEnvs(registry);
  const auto names = lzero::ListDirectory(folder);
  if (!names.ok() || names->empty()) {
    std::cerr << "no trace in " << folder << "\n";
    return 1;
  }
  CountsByEnv counts;
  for (const std::string& name : *names) {
    const auto text = lzero::ReadFile(lzero::JoinPath(folder, name));
    const absl::Status status = !text.ok() ? text.status()
                                : absl::EndsWith(name, ".txt")
                                    ? PlayEpisodes(registry, *text, counts)
                                    : PlayTrace(registry, *text, counts);
    if (status.ok()) continue;
    std::cerr << name << ": " << status.message() << "\n";
    return 1;
  }
  int64_t num_differences = 0;
  for (const auto& [env, count] : counts) {
    std::cout << env << ": " << count.num_episodes << " episodes, " << count.num_steps
              << " steps: " << count.num_differences << " episodes differ\n";
    num_differences += count.num_differences;
  }
  return num_differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: minatar_oracle PYTHON SCRIPT FOLDER\n";
    return 2;
  }
  (void)lzero::RemoveTree(argv[3]);
  const int recorded = lzero::oracle::Record(argv[1], argv[2], argv[3]);
  return recorded != 0 ? recorded : CompareAll(argv[3]);
}
