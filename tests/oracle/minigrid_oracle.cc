// Oracle test: minigrid_oracle PYTHON SCRIPT FOLDER runs tools/record/record_minigrid_traces.py,
// then plays what it recorded: every episode whole, from its seed, and every start map. Exit code
// 77, "not run", when that Python has no minigrid.
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
#include "tests/envs/grid/start_maps.h"
#include "tests/oracle/recording.h"

namespace {

struct Counts {
  int64_t num_episodes = 0;
  int64_t num_steps = 0;
  int64_t num_maps = 0;
  int64_t num_differences = 0;
};
using CountsByEnv = std::map<std::string, Counts>;

absl::Status PlayTrace(const lzero::EnvRegistry& registry, const std::string& path,
                       CountsByEnv& counts) {
  LZ_ASSIGN_OR_RETURN(const std::string text, lzero::ReadFile(path));
  LZ_ASSIGN_OR_RETURN(const lzero::Trace trace, lzero::ParseTrace(text));
  lzero::EnvOptions options;
  options.max_episode_steps = trace.meta.max_episode_steps;
  options.settings = trace.meta.settings;
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(trace.meta.env, options));
  LZ_ASSIGN_OR_RETURN(const auto report, lzero::ReplayTrace(*env, trace, /*whole=*/true));
  for (const std::string& difference : report.differences) {
    std::cout << path << ": " << difference << "\n";
  }
  // The cap that lzero takes by itself must be the reference's.
  options.max_episode_steps = 0;
  LZ_ASSIGN_OR_RETURN(const auto plain, registry.Make(trace.meta.env, options));
  const bool capped = absl::StrContains(path, "_cap_");
  const bool same_cap = plain->spec().max_episode_steps == trace.meta.max_episode_steps;
  if (!capped && !same_cap) std::cout << path << ": other cap than the reference\n";
  Counts& count = counts[trace.meta.env];
  count.num_episodes += report.num_episodes;
  count.num_steps += report.num_steps;
  count.num_differences +=
      static_cast<int64_t>(report.differences.size()) + (!capped && !same_cap ? 1 : 0);
  return absl::OkStatus();
}

absl::Status CompareMaps(const lzero::EnvRegistry& registry, const std::string& path,
                         CountsByEnv& counts) {
  LZ_ASSIGN_OR_RETURN(const std::string text, lzero::ReadFile(path));
  LZ_ASSIGN_OR_RETURN(const auto maps, lzero::ParseStartMaps(text));
  for (const lzero::StartMap& map : maps) {
    LZ_ASSIGN_OR_RETURN(const std::string shown, lzero::ShownMap(registry, map));
    Counts& count = counts[map.env];
    ++count.num_maps;
    if (shown == map.text) continue;
    ++count.num_differences;
    std::cout << map.name << ": recorded\n" << map.text << "shown\n" << shown;
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
    const std::string path = lzero::JoinPath(folder, name);
    const absl::Status status = absl::EndsWith(name, ".txt") ? CompareMaps(registry, path, counts)
                                                             : PlayTrace(registry, path, counts);
    if (status.ok()) continue;
    std::cerr << path << ": " << status.message() << "\n";
    return 1;
  }
  int64_t num_differences = 0;
  for (const auto& [env, count] : counts) {
    std::cout << env << ": " << count.num_episodes << " episodes, " << count.num_steps << " steps, "
              << count.num_maps << " start maps: " << count.num_differences << " differ\n";
    num_differences += count.num_differences;
  }
  return num_differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: minigrid_oracle PYTHON SCRIPT FOLDER\n";
    return 2;
  }
  (void)lzero::RemoveTree(argv[3]);
  const int recorded = lzero::oracle::Record(argv[1], argv[2], argv[3]);
  return recorded != 0 ? recorded : CompareAll(argv[3]);
}
