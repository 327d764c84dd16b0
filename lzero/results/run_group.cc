#include "lzero/results/run_group.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// A group while it grows.
struct Candidate {
  std::string key;  // runs with the same one belong together
  RunGroup group;
};

// Why a run that can be read is of no use; OK if it is.
absl::Status CheckUse(const RunRecord& run, const CollectOptions& options) {
  if (run.state != "finished" && !options.take_unfinished) {
    return absl::FailedPreconditionError(absl::StrCat(
        "is ", run.state, " at ", run.env_steps, " env steps; --unfinished takes it as it is"));
  }
  if (run.evaluations.empty() && !options.take_unevaluated) {
    return absl::FailedPreconditionError("has no evaluation (evaluate.every_updates)");
  }
  return absl::OkStatus();
}

void AddToGroup(RunRecord run, const std::string& key, const std::string& label,
                const std::string& folder, std::vector<Candidate>* candidates,
                std::vector<SkippedRun>* skipped) {
  auto place = std::find_if(candidates->begin(), candidates->end(),
                            [&](const Candidate& candidate) { return candidate.key == key; });
  if (place == candidates->end()) {
    candidates->push_back({key, {label, {}, folder}});
    place = candidates->end() - 1;
  }
  std::vector<RunRecord>& runs = place->group.runs;
  const auto same = std::find_if(runs.begin(), runs.end(), [&](const RunRecord& other) {
    return other.config.seed == run.config.seed;
  });
  if (same == runs.end()) {
    runs.push_back(std::move(run));
    return;
  }
  if (same->path == run.path) return;  // named twice
  // A finished run tells more than one that is not.
  const bool is_finished = run.state == "finished", was_finished = same->state == "finished";
  const bool takes_place =
      is_finished == was_finished ? same->start_time < run.start_time : is_finished;
  if (takes_place) std::swap(*same, run);
  skipped->push_back({run.path, absl::StrCat("has the config and seed of ", same->path,
                                             is_finished == was_finished ? ", which is newer"
                                                                         : ", which is finished")});
}

absl::Status AddRun(const std::string& path, const std::string& argument,
                    const CollectOptions& options, std::vector<Candidate>* candidates,
                    std::vector<SkippedRun>* skipped) {
  const bool is_named = path == argument;
  auto run = ReadRun(path);
  const absl::Status use = run.ok() ? CheckUse(*run, options) : run.status();
  if (!use.ok() && is_named) return run.ok() ? Annotate(use, path) : use;
  if (!use.ok()) {
    skipped->push_back({path, std::string(use.message())});
    return absl::OkStatus();
  }
  const std::string origin = is_named ? absl::StrCat("commit ", run->git_commit) : argument;
  const std::string key = absl::StrCat(origin, "\n", ConfigWithoutSeed(run->config));
  const std::string label = is_named ? run->name : argument;
  AddToGroup(*std::move(run), key, label, is_named ? "" : argument, candidates, skipped);
  return absl::OkStatus();
}

// A setting names a group by how many others it tells it from, times this: the environment before
// all; of equal ones the family first, and last what is not learned with.
int WeightOf(const std::string& key) {
  if (key == "env.id") return 1000000;
  if (key == "model.family") return 101;
  for (const char* section : {"evaluate.", "checkpoint.", "stop."}) {
    if (absl::StartsWith(key, section)) return 99;
  }
  return 100;
}

// "train.batch_size=64": as few settings as tell `group` from the others of the same label, four at
// most, the environment before all; its commit when none does.
std::string SettingsText(const RunGroup& group, absl::Span<RunGroup* const> same_label) {
  std::vector<std::map<std::string, std::string>> others;  // in what each differs
  for (const RunGroup* other : same_label) {
    std::map<std::string, std::string>& settings = others.emplace_back();
    for (const ConfigDifference& difference : DiffGroups(group, *other)) {
      settings[difference.key] = difference.a;
    }
    if (settings.empty()) others.pop_back();
  }
  std::vector<std::string> texts;
  constexpr size_t kMost = 4;
  while (!others.empty() && texts.size() < kMost) {
    // The setting that tells it from most of those that are left.
    std::map<std::string, int> counts;
    for (const auto& settings : others) {
      for (const auto& [key, value] : settings) counts[key] += WeightOf(key);
    }
    const std::string key =
        std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    const auto holds = [&](const auto& settings) { return settings.contains(key); };
    texts.push_back(
        absl::StrCat(key, "=", std::find_if(others.begin(), others.end(), holds)->at(key)));
    std::erase_if(others, holds);
  }
  return texts.empty() ? absl::StrCat("commit ", group.runs[0].git_commit)
                       : absl::StrJoin(texts, " ");
}

void TellApart(std::vector<RunGroup>* groups) {
  std::map<std::string, std::vector<RunGroup*>> by_label;
  for (RunGroup& group : *groups) by_label[group.label].push_back(&group);
  for (const auto& [label, same_label] : by_label) {
    if (same_label.size() == 1) continue;
    std::vector<std::string> texts;
    for (const RunGroup* group : same_label) texts.push_back(SettingsText(*group, same_label));
    for (size_t i = 0; i < texts.size(); ++i) {
      same_label[i]->label = absl::StrCat(label, ": ", texts[i]);
    }
  }
}

}  // namespace

absl::StatusOr<CollectedRuns> CollectRuns(absl::Span<const std::string> paths,
                                          const CollectOptions& options) {
  CollectedRuns collected;
  std::vector<Candidate> candidates;
  for (const std::string& typed : paths) {
    const std::string path = WithoutEndSlashes(typed);
    LZ_ASSIGN_OR_RETURN(const std::vector<std::string> runs, FindRuns(path));
    if (runs.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, " holds no run: neither it nor a folder below it has a manifest.json"));
    }
    for (const std::string& run : runs) {
      LZ_RETURN_IF_ERROR(AddRun(run, path, options, &candidates, &collected.skipped));
    }
  }
  for (Candidate& candidate : candidates) {
    std::sort(candidate.group.runs.begin(), candidate.group.runs.end(),
              [](const auto& first, const auto& second) {
                return first.config.seed < second.config.seed;
              });
    if (candidate.group.runs.size() == 1 && IsRunFolder(candidate.group.runs[0].path) &&
        std::find(paths.begin(), paths.end(), candidate.group.runs[0].path) != paths.end()) {
      candidate.group.label = candidate.group.runs[0].path;
    }
    collected.groups.push_back(std::move(candidate.group));
  }
  if (collected.groups.empty()) {
    const SkippedRun& first = collected.skipped[0];
    return absl::InvalidArgumentError(absl::StrCat("no run is left of ", collected.skipped.size(),
                                                   ": ", first.path, ": ", first.reason));
  }
  TellApart(&collected.groups);
  return collected;
}

std::set<std::string> EnvironmentsOf(absl::Span<const RunGroup> groups) {
  std::set<std::string> environments;
  for (const RunGroup& group : groups) environments.insert(EnvironmentOf(group.runs[0].config));
  return environments;
}

std::vector<ConfigDifference> DiffGroups(const RunGroup& a, const RunGroup& b) {
  ExperimentConfig seedless = b.runs[0].config;
  seedless.seed = a.runs[0].config.seed;
  return DiffConfigs(a.runs[0].config, seedless);
}

}  // namespace lzero
