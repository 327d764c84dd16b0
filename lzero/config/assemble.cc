#include "lzero/config/assemble.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/schema.h"

namespace lzero {
namespace {

constexpr size_t kMaxProblems = 100;  // printed; the rest is counted

constexpr char kShared[] = ": all tasks share it; allowed: beside `tasks`";

std::optional<std::string> NeedsSingle(const YamlNode& node) {
  return absl::StrCat("a single value is needed; got ", ShownText(node));
}

// Sets all of a list field.
std::optional<std::string> SetList(const ConfigField& field, const YamlNode& list) {
  std::vector<std::string> items;
  for (const YamlNode& item : list.items) {
    if (item.kind != YamlNode::Kind::kScalar || item.scalar.is_null || item.refused) {
      return absl::StrCat("a list of single values is needed; got ", ShownText(item), " in it");
    }
    if (item.scalar.text.empty() || !IsPrintableUtf8(item.scalar.text)) {
      return absl::StrCat("an item is a printable text; got ", ShownText(item), " in it");
    }
    items.push_back(item.scalar.text);
  }
  *std::get<std::vector<std::string>*>(field.value) = std::move(items);
  return std::nullopt;
}

// Makes relative `paths` start at the folder of the file that names them, as `extends` does.
void StartAt(const std::string& file, std::vector<std::string>* paths) {
  const auto folder = std::filesystem::path(file).parent_path();
  for (std::string& path : *paths) path = (folder / path).lexically_normal().string();
}

}  // namespace

void ConfigAssembler::AddLayer(const std::string& name, absl::string_view text) {
  layers_.push_back({name, ReadYamlTree(text), -static_cast<int>(layers_.size())});
}

std::string ConfigAssembler::ChainText() const {
  return absl::StrJoin(layers_, " -> ", [](std::string* out, const Layer& layer) {
    absl::StrAppend(out, layer.name);
  });
}

std::string ConfigAssembler::LowestExtends() {
  const YamlEntry* entry = FindEntry(layers_.back().tree.root, "extends");
  if (entry == nullptr || entry->value.refused) return "";
  const ScalarText& scalar = entry->value.scalar;
  if (entry->value.kind == YamlNode::Kind::kScalar && !scalar.text.empty() &&
      IsPrintableUtf8(scalar.text)) {
    return scalar.text;
  }
  ReportUnreadable(absl::StrCat("not a file name; got ", ShownText(entry->value),
                                "; allowed: one path, relative to this file"));
  return "";
}

void ConfigAssembler::ReportUnreadable(const std::string& message) {
  complete_ = false;
  if (layers_.empty()) {
    problems_.push_back({{}, message});
    return;
  }
  const YamlEntry* entry = FindEntry(layers_.back().tree.root, "extends");
  Report(At(layers_.back(), entry == nullptr ? TextPosition{} : entry->value.position),
         absl::StrCat("extends: ", message));
}

ConfigAssembler::Place ConfigAssembler::At(const Layer& layer, const TextPosition& position) {
  return {layer.rank, position, absl::StrCat(layer.name, ":", position.line, ":", position.column),
          layer.of_task};
}

void ConfigAssembler::Report(const Place& place, absl::string_view message) {
  const std::string task = place.of_task ? absl::StrCat(kTasksKey, ".", task_, ".") : "";
  problems_.push_back({place, absl::StrCat(place.where, ": ", task, message)});
}

bool ConfigAssembler::IsSection(absl::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [name](const ConfigField& field) { return field.section == name; });
}

void ConfigAssembler::ApplyLayers() {
  for (size_t i = layers_.size(); i-- > 0;) ApplyLayer(layers_[i]);
}

void ConfigAssembler::ApplyLayer(const Layer& layer) {
  complete_ = complete_ && layer.tree.readable;
  for (const YamlProblem& problem : layer.tree.problems) {
    Report(At(layer, problem.position), problem.message);
  }
  for (const YamlEntry& entry : layer.tree.root.entries) {
    const ConfigField* const field = FindField(fields_, entry.key);
    if (entry.key == "extends" && !layer.of_task) {
      complete_ = complete_ && !entry.value.refused;
    } else if (entry.key == (layer.of_task ? "name" : kTasksKey)) {
      continue;  // MakeTasks reads it
    } else if (entry.value.refused) {
      doubtful_.insert(entry.key);
    } else if (IsSection(entry.key)) {
      ApplySection(layer, entry);
    } else if (field != nullptr && field->section.empty() && layer.of_task) {
      Report(At(layer, entry.position), absl::StrCat(entry.key, kShared));
    } else if (field != nullptr && field->section.empty()) {
      ApplyField(layer, *field, entry.value);
    } else {
      ReportUnknownKey(layer, entry.key, entry.position);
    }
  }
}

void ConfigAssembler::ApplySection(const Layer& layer, const YamlEntry& section) {
  if (section.value.kind != YamlNode::Kind::kMap) {
    doubtful_.insert(section.key);
    Report(At(layer, section.value.position),
           absl::StrCat(section.key, ": a section is a map of its keys; got ",
                        ShownText(section.value), "; allowed: ", section.key, ": {key: value}"));
    return;
  }
  for (const YamlEntry& entry : section.value.entries) {
    const std::string path = absl::StrCat(section.key, ".", entry.key);
    const ConfigField* const field = FindField(fields_, path);
    if (field == nullptr) {
      ReportUnknownKey(layer, path, entry.position);
    } else if (layer.of_task && !IsTaskSetting(path)) {
      Report(At(layer, entry.position), absl::StrCat(path, kShared));
    } else {
      ApplyField(layer, *field, entry.value);
    }
  }
}

void ConfigAssembler::Settle(const ConfigField& field, bool whole, const Place& place,
                             absl::string_view prefix, const std::optional<std::string>& problem) {
  if (problem.has_value()) {
    doubtful_.insert(field.path);
    Report(place, absl::StrCat(prefix, *problem));
    return;
  }
  settings_[field.path] = place;
  // A field that was refused stays doubtful until all of it is set.
  if (whole) doubtful_.erase(field.path);
}

void ConfigAssembler::ApplyField(const Layer& layer, const ConfigField& field,
                                 const YamlNode& value) {
  if (value.refused) {
    doubtful_.insert(field.path);
    return;
  }
  const Place place = At(layer, value.position);
  if (field.Is<std::map<std::string, std::string>*>() && value.kind == YamlNode::Kind::kMap) {
    if (value.entries.empty()) Settle(field, true, place, "", SetFromText(field, {.text = "{}"}));
    for (const YamlEntry& entry : value.entries) ApplyMapEntry(layer, field, entry);
    return;
  }
  const bool is_list =
      field.Is<std::vector<std::string>*>() && value.kind == YamlNode::Kind::kSequence;
  const auto problem = is_list                                 ? SetList(field, value)
                       : value.kind != YamlNode::Kind::kScalar ? NeedsSingle(value)
                                                               : SetFromText(field, value.scalar);
  // Paths of plugins and modules count from the file that names them.
  const bool holds_paths = field.path == "plugins" || field.path == "env.python_path";
  if (!problem.has_value() && holds_paths) {
    StartAt(layer.name, std::get<std::vector<std::string>*>(field.value));
  }
  Settle(field, true, place, absl::StrCat(field.path, ": "), problem);
}

void ConfigAssembler::ApplyMapEntry(const Layer& layer, const ConfigField& map,
                                    const YamlEntry& entry) {
  const YamlNode& value = entry.value;
  if (value.refused) {
    doubtful_.insert(map.path);
    return;
  }
  Settle(map, false, At(layer, value.position), absl::StrCat(map.path, ".", entry.key, ": "),
         value.kind != YamlNode::Kind::kScalar ? NeedsSingle(value)
                                               : SetMapEntry(map, entry.key, value.scalar));
}

std::string ConfigAssembler::HintAt(absl::string_view path) {
  std::string suggestion;
  std::string hint = NearestKeyHint(path, &suggestion);
  if (!suggestion.empty()) doubtful_.insert(suggestion);
  return hint;
}

void ConfigAssembler::ReportUnknownKey(const Layer& layer, const std::string& path,
                                       const TextPosition& position) {
  std::string hint;
  if (FindField(fields_, path) != nullptr) {
    doubtful_.insert(path);
    const size_t dot = path.find('.');
    hint = absl::StrCat("; dotted keys are for the command line; allowed: ", path.substr(0, dot),
                        ": {", path.substr(dot + 1), ": value}");
  } else if (problems_.size() < kMaxProblems) {  // beyond it nothing is printed
    hint = HintAt(path);
  }
  Report(At(layer, position), absl::StrCat(path, ": unknown key", hint));
}

void ConfigAssembler::ApplyOverride(const std::string& assignment, const std::string& prefix) {
  const std::string typed = absl::StrCat(prefix, assignment);
  const bool readable = IsPrintableUtf8(typed) && typed.size() <= 200;
  const Place place = {kOverrideRank,
                       {},
                       absl::StrCat("command line: ", readable ? typed : QuotedForMessage(typed))};
  // Split into path and value.
  const size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  if (equals == assignment.npos || path.empty()) {
    return Report(place, "not a setting; allowed: key.path=value");
  }
  ScalarText scalar = {assignment.substr(equals + 1)};
  scalar.is_null = scalar.text == "null" || scalar.text == "~";
  // Paths that no value can be given for.
  if (path == "extends") {
    return Report(place, "extends belongs in a file; allowed: key.path=value");
  }
  if (IsSection(path)) {
    doubtful_.insert(path);
    return Report(place, absl::StrCat("a section has no value; allowed: ", path, ".key=value"));
  }
  // Entries of maps, and keys that do not exist.
  const size_t dot = path.rfind('.');
  const ConfigField* const map = FindField(fields_, path.substr(0, dot));
  if (map != nullptr && map->Is<std::map<std::string, std::string>*>() && dot + 1 < path.size() &&
      dot != path.npos) {
    return Settle(*map, false, place, "", SetMapEntry(*map, path.substr(dot + 1), scalar));
  }
  const ConfigField* const field = FindField(fields_, path);
  if (field == nullptr) return Report(place, absl::StrCat("unknown key", HintAt(path)));
  if (!prefix.empty() && !IsTaskSetting(path)) {
    return Report(place, absl::StrCat("all tasks share it; allowed: ", assignment));
  }
  // Set the field.
  const auto earlier = settings_.find(path);
  if (earlier != settings_.end() && earlier->second.rank == kOverrideRank) {
    return Report(place, "duplicate key; set twice on the command line");
  }
  const bool is_map = field->Is<std::map<std::string, std::string>*>();
  if (!is_map || !absl::StartsWith(scalar.text, "{")) {
    return Settle(*field, true, place, "", SetFromText(*field, scalar));
  }
  // A whole map takes the place of what files say, and is read as in a file.
  const YamlTree tree = ReadYamlTree(scalar.text);
  for (const YamlProblem& problem : tree.problems) Report(place, problem.message);
  Settle(*field, true, place, "", SetFromText(*field, {.text = "{}"}));
  for (const YamlEntry& entry : tree.root.entries) {
    const bool is_single = entry.value.kind == YamlNode::Kind::kScalar;
    Settle(
        *field, false, place, absl::StrCat(entry.key, ": "),
        is_single ? SetMapEntry(*field, entry.key, entry.value.scalar) : NeedsSingle(entry.value));
  }
}

bool ConfigAssembler::InDoubt(const ConsistencyError& error) const {
  return std::any_of(error.keys.begin(), error.keys.end(), [this](const std::string& key) {
    return doubtful_.count(key) > 0 || doubtful_.count(key.substr(0, key.find('.'))) > 0;
  });
}

bool ConfigAssembler::IsSetAfter(const ConsistencyError& error) const {
  const auto setting = settings_.find(error.keys[0]), other = settings_.find(error.keys[1]);
  if (setting == settings_.end()) return false;
  const int rank = setting->second.rank;
  if (other != settings_.end() && other->second.rank > rank) return false;
  const auto same = [rank](const auto& entry) { return entry.second.rank == rank; };
  const int64_t num_together = std::count_if(settings_.begin(), settings_.end(), same);
  return 2 * num_together < static_cast<int64_t>(fields_.size());
}

void ConfigAssembler::ReportConsistency(const std::vector<ConsistencyError>& errors) {
  for (const ConsistencyError& error : errors) {
    if (InDoubt(error) || (error.only_if_set_after && !IsSetAfter(error))) continue;
    // What stands beside the tasks may be read by another one.
    const auto setting = settings_.find(error.keys[0]);
    if (error.only_if_set_after && !task_.empty() && !setting->second.of_task) {
      unread_beside_.push_back(error);
      continue;
    }
    // Points at the key that was set last; the first of equals.
    Place last = {-1000, {}, "defaults"};
    for (const std::string& key : error.keys) {
      const auto set = settings_.find(key);
      if (set == settings_.end()) continue;
      const Place& place = set->second;
      if (std::tuple(place.rank, place.of_task) > std::tuple(last.rank, last.of_task)) last = place;
    }
    // An override is shown with its key.
    const std::string& key = error.keys.front();
    const bool is_shown =
        task_.empty() && absl::StartsWith(last.where, absl::StrCat("command line: ", key, "="));
    Report({kConsistencyRank, {}, last.where, !task_.empty()},
           absl::StrCat(is_shown ? "" : key, is_shown ? "" : ": ", error.message));
  }
}

std::string ConfigAssembler::JoinedProblems() {
  // The named file first, then what it extends, the command line, rules between fields.
  std::ranges::stable_sort(problems_, {}, [](const Problem& problem) {
    const Place& place = problem.place;
    return std::tuple(std::max(place.rank, 0), -place.rank, place.position.line,
                      place.position.column);
  });
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(problems_.size(), kMaxProblems); ++i) {
    lines.push_back(problems_[i].line);
  }
  if (problems_.size() > kMaxProblems) {
    lines.push_back(absl::StrCat("and ", problems_.size() - kMaxProblems, " more problems"));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace lzero
