#include "lzero/player/weight_names.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kSharedPrefix[] = "shared.";
constexpr char kAdapter[] = "adapter.";

std::string PartOf(const std::string& parameter) {
  return parameter.substr(0, parameter.find('.'));
}

// A weight without what depends on how many tasks its run has.
struct PlainName {
  bool is_shared = false;
  std::string owner;  // "task.pong." or "group.maze."; "" of shared and of an only task
  std::string rest;   // "transformer.block0.qkv.weight"
};

PlainName PlainNameOf(const ExperimentConfig& config, const std::string& weight) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  if (tasks.size() == 1) {
    const bool is_adapter = absl::StartsWith(weight, kAdapter);
    return {!is_adapter && PlaceOf(tasks[0], 1, weight).owner == kSharedOwner, "", weight};
  }
  absl::string_view rest = weight;
  if (absl::ConsumePrefix(&rest, kSharedPrefix)) return {true, "", std::string(rest)};
  const size_t end = weight.find('.', weight.find('.') + 1) + 1;
  return {false, weight.substr(0, end), weight.substr(end)};
}

// The name in a run of `others` of what is a weight of `here`; "" where there is none.
std::string NameIn(const std::vector<ExperimentConfig>& others, const ExperimentConfig& here,
                   const std::string& rest) {
  const std::string& task = here.init.like != kNoTask ? here.init.like : here.name;
  const auto other = std::ranges::find(others, task, &ExperimentConfig::name);
  if (other == others.end()) return "";
  if (!absl::StartsWith(rest, kAdapter)) return PlaceOf(*other, others.size(), rest).name;
  if (other->multitask.adapter_rank == 0) return "";
  return absl::StrCat(others.size() == 1 ? "" : absl::StrCat("task.", task, "."), rest);
}

}  // namespace

WeightPlace PlaceOf(const ExperimentConfig& task, size_t num_tasks, const std::string& parameter) {
  const std::string part = PartOf(parameter);
  const std::vector<std::string>& share = task.multitask.share;
  const auto named = [&](std::string owner, const std::string& prefix) -> WeightPlace {
    return {std::move(owner), num_tasks == 1 ? parameter : absl::StrCat(prefix, ".", parameter)};
  };
  if (std::ranges::find(share, part) != share.end()) return named(kSharedOwner, kSharedOwner);
  const std::string& group = task.model.encoder_group;
  if (part == "encoder" && group != kNoGroup) return named(group, absl::StrCat("group.", group));
  return named(task.name, absl::StrCat("task.", task.name));
}

AdapterNames AdapterNamesOf(const ExperimentConfig& task, size_t num_tasks,
                            const std::string& parameter) {
  const std::string prefix = num_tasks == 1 ? "" : absl::StrCat("task.", task.name, ".");
  const std::string base = absl::StrCat(prefix, "adapter.", parameter);
  return {absl::StrCat(base, ".down"), absl::StrCat(base, ".up")};
}

bool HasAdapter(const ExperimentConfig& task, const WeightPlace& place, int64_t num_axes) {
  return task.multitask.adapter_rank > 0 && place.owner == kSharedOwner && num_axes == 2;
}

absl::StatusOr<ExperimentConfig> FindTask(const ExperimentConfig& config, const std::string& name) {
  std::vector<std::string> names;
  for (ExperimentConfig& task : TaskConfigs(config)) {
    if (task.name == name || (name.empty() && config.tasks.size() <= 1)) return task;
    names.push_back(task.name);
  }
  if (config.tasks.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the run has no tasks; got task '", name, "'; allowed: none"));
  }
  const std::string all = absl::StrJoin(names, ", ");
  return absl::InvalidArgumentError(
      name.empty() ? absl::StrCat("the run has several tasks; choose one with --task: ", all)
                   : absl::StrCat("no task '", name, "'; allowed: ", all));
}

std::vector<std::pair<std::string, std::string>> MatchWeights(
    const ExperimentConfig& config, const ExperimentConfig& source,
    const std::vector<std::string>& weights) {
  // By whose it is, or by the part of the network it belongs to.
  const auto takes = [&config](const char* whose, const std::string& rest) {
    return std::ranges::any_of(config.init.parts, [&](const std::string& part) {
      return part == whose || part == rest.substr(0, rest.find('.'));
    });
  };
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config), others = TaskConfigs(source);
  std::vector<std::pair<std::string, std::string>> matched;
  for (const std::string& weight : weights) {
    const PlainName name = PlainNameOf(config, weight);
    if (name.is_shared) {
      if (!takes("shared", name.rest)) continue;
      matched.emplace_back(weight, absl::StrCat(others.size() > 1 ? kSharedPrefix : "", name.rest));
      continue;
    }
    if (!takes("own", name.rest)) continue;
    // A task's own, or a group's: then the first task of the group that is there.
    for (const ExperimentConfig& task : tasks) {
      const bool is_owner = tasks.size() == 1 ||
                            name.owner == absl::StrCat("task.", task.name, ".") ||
                            name.owner == absl::StrCat("group.", task.model.encoder_group, ".");
      const std::string there = is_owner ? NameIn(others, task, name.rest) : "";
      if (there.empty()) continue;
      matched.emplace_back(weight, there);
      break;
    }
  }
  return matched;
}

std::vector<std::string> PartsOf(absl::Span<const std::pair<std::string, std::string>> matched) {
  std::set<std::string> parts;
  for (const auto& [weight, there] : matched) {
    const std::vector<absl::string_view> words = absl::StrSplit(weight, '.');
    size_t length = words[0] == "task" || words[0] == "group" ? 3 : words[0] == "shared" ? 2 : 1;
    length = std::min(length, words.size());
    parts.insert(absl::StrJoin(absl::MakeConstSpan(words).first(length), "."));
  }
  return {parts.begin(), parts.end()};
}

}  // namespace lzero
