// What a ConfigAssembler makes of the entries of `tasks`, and how everything ends.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/config/assemble.h"
#include "lzero/config/scalar_text.h"

namespace lzero {

std::vector<std::unique_ptr<ConfigAssembler>> ConfigAssembler::MakeTasks() {
  std::vector<std::unique_ptr<ConfigAssembler>> tasks;
  for (const Layer& layer : layers_) {
    const YamlEntry* const list = FindEntry(layer.tree.root, kTasksKey);
    if (list == nullptr) continue;
    if (list->value.kind != YamlNode::Kind::kSequence || list->value.items.empty()) {
      complete_ = false;
      Report(At(layer, list->value.position),
             absl::StrCat("tasks: a list of at least one task is needed; got ",
                          list->value.items.empty() && list->value.kind == YamlNode::Kind::kSequence
                              ? "an empty one"
                              : ShownText(list->value),
                          "; allowed: - {name: NAME, env: {id: ID}, ...}"));
      return tasks;
    }
    for (const YamlNode& entry : list->value.items) {
      auto task = MakeTask(layer, entry);
      if (task == nullptr) continue;
      const auto same = [&task](const auto& other) { return other->task_ == task->task_; };
      if (std::ranges::any_of(tasks, same)) {
        Report(At(layer, entry.position), absl::StrCat("tasks: two are called ", task->task_));
      } else {
        tasks.push_back(std::move(task));
      }
    }
    return tasks;
  }
  return tasks;
}

std::unique_ptr<ConfigAssembler> ConfigAssembler::MakeTask(const Layer& file,
                                                           const YamlNode& entry) {
  const YamlEntry* const name = FindEntry(entry, "name");
  const std::string text = name == nullptr ? "" : name->value.scalar.text;
  const std::string problem = TaskNameProblem(text);
  if (!problem.empty()) {
    Report(At(file, name == nullptr ? entry.position : name->value.position),
           absl::StrCat("tasks: ", problem, "; got ", QuotedForMessage(text)));
    return nullptr;
  }
  auto task = std::make_unique<ConfigAssembler>();
  task->task_ = task->config_.name = text;
  task->complete_ = complete_;
  task->layers_ = layers_;
  for (Layer& layer : task->layers_) layer.tree.problems.clear();  // told already
  YamlTree own;
  own.root = entry;
  task->layers_.insert(task->layers_.begin(), {file.name, std::move(own), file.rank, true});
  task->ApplyLayers();
  return task;
}

void ConfigAssembler::ReportNoTask(const std::string& assignment) {
  Report({kOverrideRank, {}, absl::StrCat("command line: ", QuotedForMessage(assignment))},
         "no such task, or no key of one; allowed: tasks.NAME.key.path=value");
}

void ConfigAssembler::CheckRules(const ConfigRule& extra_rule) {
  if (complete_) ReportConsistency(ConsistencyErrors(config_));
  if (complete_ && extra_rule != nullptr) ReportConsistency(extra_rule(config_));
}

LoadedConfig ConfigAssembler::Loaded() const {
  LoadedConfig loaded;
  loaded.config = config_;
  for (const Layer& layer : layers_) loaded.files.push_back(layer.name);
  for (const auto& [path, place] : settings_) {
    loaded.set_at[path] = place.rank == kOverrideRank ? "command line" : place.where;
  }
  return loaded;
}

void ConfigAssembler::ReportUnreadBeside(absl::Span<const std::unique_ptr<ConfigAssembler>> tasks) {
  for (const ConsistencyError& error : tasks[0]->unread_beside_) {
    const auto has_it = [&error](const auto& task) {
      return std::ranges::any_of(task->unread_beside_, [&error](const ConsistencyError& other) {
        return other.keys[0] == error.keys[0];
      });
    };
    const Place& place = tasks[0]->settings_.at(error.keys[0]);
    if (std::ranges::all_of(tasks, has_it)) {
      Report({kConsistencyRank, {}, place.where}, absl::StrCat(error.keys[0], ": ", error.message));
    }
  }
}

absl::StatusOr<LoadedConfig> ConfigAssembler::Finish(
    const ConfigRule& extra_rule, absl::Span<const std::unique_ptr<ConfigAssembler>> tasks) {
  if (tasks.empty()) CheckRules(extra_rule);
  for (const auto& task : tasks) {
    task->CheckRules(extra_rule);
    // What is wrong beside the tasks is so in each of them.
    for (Problem& problem : task->problems_) {
      const auto same = [&problem](const Problem& told) { return told.line == problem.line; };
      if (std::ranges::none_of(problems_, same)) problems_.push_back(std::move(problem));
    }
    config_.tasks.push_back(task->config_);
  }
  if (!tasks.empty()) ReportUnreadBeside(tasks);
  const bool is_whole = problems_.empty() && !tasks.empty();
  if (is_whole && extra_rule != nullptr) {
    const std::vector<ConsistencyError> errors = extra_rule(config_);
    // What one task says for itself is where a rule between tasks is broken.
    for (const auto& task : tasks) {
      if (errors.empty()) break;
      for (const auto& [key, place] : task->settings_) {
        if (place.of_task && !settings_[key].of_task) settings_[key] = place;
      }
    }
    ReportConsistency(errors);
  }
  if (!problems_.empty()) return absl::InvalidArgumentError(JoinedProblems());
  return Loaded();
}

}  // namespace lzero
