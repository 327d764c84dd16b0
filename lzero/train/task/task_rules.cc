#include "lzero/train/task/task_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"
#include "lzero/config/schema.h"
#include "lzero/env/env_rules.h"
#include "lzero/family/packed/families.h"
#include "lzero/train/build.h"
#include "lzero/train/run_plan.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

constexpr size_t kMostTasks = 64;

// An error for each of `got` that is not among `allowed`.
void RequireAmong(const std::string& key, const std::vector<std::string>& got,
                  const std::vector<std::string>& allowed, Errors* errors) {
  for (const std::string& word : got) {
    Require(std::ranges::find(allowed, word) != allowed.end(), errors, {key}, "got ", word,
            "; allowed: ", absl::StrJoin(allowed, ", "));
  }
}

// What stays as it is must be something that was learned, and something must learn.
void CheckFrozen(absl::Span<const ExperimentConfig> tasks, Errors* errors) {
  const MultitaskConfig& multitask = tasks[0].multitask;
  const InitConfig& init = tasks[0].init;
  const auto is_frozen = [&](const std::string& owner) {
    return absl::c_linear_search(multitask.freeze, owner);
  };
  const auto require_taken = [&](const std::string& whose, const std::string& part,
                                 const char* more) {
    const bool is_taken = init.from != kNoRun && (absl::c_linear_search(init.parts, whose) ||
                                                  absl::c_linear_search(init.parts, part));
    Require(is_taken, errors, {"multitask.freeze", "init.parts"}, part,
            " would stay as it begins, untrained; allowed: init.from with this part", more);
  };
  for (const std::string& part : multitask.share) {
    if (is_frozen("shared")) require_taken("shared", part, ", or multitask.share without it");
  }
  const ModelFamily& family = FamilyOf(tasks[0].model);
  std::set<std::string> owners;  // of encoders, a group once
  for (const ExperimentConfig& task : tasks) {
    const std::string& group = task.model.encoder_group;
    const std::string& owner = group != kNoGroup ? group : task.name;
    if (is_frozen(owner) && owners.insert(owner).second) require_taken("own", "encoder", "");
    if (!is_frozen(task.name)) continue;
    for (const auto& parts : {family.own_parts, family.shared_parts}) {
      for (const std::string& part : parts) {
        const bool is_own = part != "encoder" && !absl::c_linear_search(multitask.share, part);
        if (is_own) require_taken("own", part, "");
      }
    }
  }
  const auto learns = [&](const ExperimentConfig& task) {
    const std::string& group = task.model.encoder_group;
    return !absl::c_linear_search(multitask.evaluate_only, task.name) &&
           !(is_frozen(task.name) && (is_frozen("shared") || multitask.share.empty()) &&
             (group == kNoGroup || is_frozen(group)));
  };
  Require(absl::c_any_of(tasks, learns), errors, {"multitask.freeze", "multitask.evaluate_only"},
          "nothing would learn; allowed: a task less");
}

void CheckParts(absl::Span<const ExperimentConfig> tasks, Errors* errors) {
  const ExperimentConfig& config = tasks[0];
  const std::vector<std::string>& parts = FamilyOf(config.model).shared_parts;
  const MultitaskConfig& multitask = config.multitask;
  const std::string family = ValueText(config, "model.family");
  const std::vector<std::pair<std::string, bool>> uses = {
      {"tasks", tasks.size() > 1},
      {"multitask.adapter_rank", multitask.adapter_rank > 0},
      {"multitask.freeze", !multitask.freeze.empty()},
      {"init.from", config.init.from != kNoRun}};
  for (const auto& [key, is_used] : uses) {
    Require(!is_used || !parts.empty(), errors, {key, "model.family"}, "family ", family,
            " has no parts that tasks can share; allowed: model.family unizero");
  }
  if (parts.empty()) return;
  RequireAmong("multitask.share", multitask.share, parts, errors);
  const std::vector<std::pair<std::string, bool>> of_shared = {
      {"multitask.adapter_rank", multitask.adapter_rank > 0},
      {"multitask.freeze", absl::c_linear_search(multitask.freeze, "shared")},
      {"multitask.balance", multitask.balance != Balance::kNone}};
  for (const auto& [key, is_used] : of_shared) {
    Require(!is_used || !multitask.share.empty(), errors, {key, "multitask.share"}, "got ",
            ValueText(config, key),
            ", but nothing is shared; allowed: multitask.share with a part");
  }
  std::vector<std::string> taken = {"shared", "own"};
  for (const auto& more : {parts, FamilyOf(config.model).own_parts})
    absl::c_copy(more, std::back_inserter(taken));
  RequireAmong("init.parts", config.init.parts, taken, errors);
  Require(multitask.balance == Balance::kNone || tasks.size() > 1, errors, {"multitask.balance"},
          "one task has no gradients to balance; got ", ValueText(config, "multitask.balance"),
          "; allowed: none, or a second task");
  Require(multitask.balance == Balance::kNone || multitask.updates == UpdateTasks::kTogether,
          errors, {"multitask.balance", "multitask.updates"}, "got ",
          ValueText(config, "multitask.balance"),
          ", but updates made apart have one gradient each; allowed: none, or updates: together");
  // No update that serves several tasks is recorded.
  const bool records = tasks.size() == 1 || config.learner_device().is_cpu() ||
                       multitask.updates == UpdateTasks::kApart;
  Require(records || config.inference.graphs != Graphs::kRequired, errors,
          {"inference.graphs", "multitask.updates"},
          "got required, but updates of several tasks together are not recorded; allowed: "
          "preferred, off, or updates: apart");
  Require(records || config.train.dtype != TrainDtype::kTf32 || !config.searches_beside_updates(),
          errors, {"train.dtype", "multitask.updates"},
          "without graphs, which updates of several tasks together have not, tf32 would reach the "
          "searches that run beside them; allowed: fp32, bf16, updates: apart, or deterministic: "
          "true");
  std::vector<std::string> names;
  for (const ExperimentConfig& task : tasks) names.push_back(task.name);
  RequireAmong("multitask.evaluate_only", multitask.evaluate_only, names, errors);
  std::vector<std::string> owners = {"shared"};
  for (const ExperimentConfig& task : tasks) {
    if (!task.name.empty()) owners.push_back(task.name);
    const std::string& group = task.model.encoder_group;
    if (group != kNoGroup && std::ranges::find(owners, group) == owners.end())
      owners.push_back(group);
  }
  RequireAmong("multitask.freeze", multitask.freeze, owners, errors);
}

// What encoders of one group must have in common.
auto EncoderOf(const ExperimentConfig& task, const EnvSpec& spec) {
  const ModelConfig& model = task.model;
  return std::tuple(spec.observation.shape, spec.observation.type, model.encoder,
                    model.encoder_width, model.encoder_layers, model.encoder_channels,
                    model.encoder_blocks);
}

void CheckGroups(absl::Span<const ExperimentConfig> tasks, absl::Span<const EnvSpec> specs,
                 Errors* errors) {
  std::map<std::string, size_t> first;  // task of each group
  std::set<std::string> names = {"shared"};
  for (const ExperimentConfig& task : tasks) names.insert(task.name);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string& group = tasks[i].model.encoder_group;
    if (group == kNoGroup) continue;
    const auto [entry, is_first] = first.emplace(group, i);
    if (is_first) {
      const std::string problem = TaskNameProblem(group);
      Require(problem.empty(), errors, {"model.encoder_group"}, problem, "; got ", group);
      Require(!names.contains(group), errors, {"model.encoder_group"}, "got ", group,
              ", which is the name of a task; allowed: another word");
      continue;
    }
    const size_t other = entry->second;
    const auto shape = [&](size_t task) {
      return absl::StrCat("[", absl::StrJoin(specs[task].observation.shape, ", "), "]");
    };
    Require(EncoderOf(tasks[i], specs[i]) == EncoderOf(tasks[other], specs[other]), errors,
            {"model.encoder_group"}, "tasks ", tasks[other].name, " and ", tasks[i].name,
            " cannot share an encoder: observations are ", shape(other), " and ", shape(i),
            "; allowed: equal observations and equal model.encoder*");
  }
}

}  // namespace

Errors SharingErrors(absl::Span<const ExperimentConfig> tasks, absl::Span<const EnvSpec> specs) {
  Errors errors;
  CheckParts(tasks, &errors);
  CheckFrozen(tasks, &errors);
  CheckGroups(tasks, specs, &errors);
  Require(tasks.size() <= kMostTasks, &errors, {"tasks"}, "got ", tasks.size(), "; allowed: 1 to ",
          kMostTasks);
  return errors;
}

Errors TasksErrors(const ExperimentConfig& config, const EnvRegistry& registry) {
  const auto all = RegistryWithPlugins(config, registry);
  if (!all.ok()) return {};
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  std::vector<EnvSpec> specs;
  for (const ExperimentConfig& task : tasks) {
    auto spec = BuildEnvSpec(task, *all);
    if (!spec.ok()) return {};  // told of the task
    specs.push_back(*std::move(spec));
  }
  Errors errors = SharingErrors(tasks, specs);
  if (!errors.empty()) return errors;
  const auto memory = PlanMemory(config, specs, *all);
  if (!memory.ok()) return {};
  const absl::Status fits = CheckMemoryPlan(*memory, MachineMemoryBytes());
  Require(fits.ok(), &errors, WhatToLower(*memory), fits.message());
  return errors;
}

}  // namespace lzero
