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
constexpr int kOverrideRank = 1;
constexpr int kConsistencyRank = 2;

const std::set<std::string>& SectionNames() {
  static const auto* const kNames = [] {
    auto* names = new std::set<std::string>;
    for (const SectionDescription& section : AllSections()) names->insert(section.name);
    return names;
  }();
  return *kNames;
}

const std::map<std::string, FieldType>& FieldPaths() {
  static const auto* const kPaths = [] {
    auto* paths = new std::map<std::string, FieldType>;
    for (const FieldDescription& field : AllFields()) (*paths)[field.path] = field.type;
    return paths;
  }();
  return *kPaths;
}

std::string PositionText(const std::string& file, const TextPosition& at) {
  return absl::StrCat(file, ":", at.line, ":", at.column);
}

const YamlEntry* FindExtends(const YamlNode& root) {
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "extends") return &entry;
  }
  return nullptr;
}

// What stands where something else should: a map, a list, nothing, or the text.
std::string Shown(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kMap) return "a map";
  if (node.kind == YamlNode::Kind::kSequence) return "a list";
  return node.scalar.is_null ? "nothing" : QuotedForMessage(node.scalar.text);
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
  const YamlEntry* entry = FindExtends(layers_.back().tree.root);
  if (entry == nullptr || entry->value.refused) return "";
  const ScalarText& scalar = entry->value.scalar;
  if (entry->value.kind == YamlNode::Kind::kScalar && !scalar.text.empty() &&
      IsPrintableUtf8(scalar.text)) {
    return scalar.text;
  }
  ReportUnreadable(absl::StrCat("not a file name; got ", Shown(entry->value),
                                "; allowed: one path, relative to this file"));
  return "";
}

void ConfigAssembler::ReportUnreadable(const std::string& message) {
  complete_ = false;
  if (layers_.empty()) {
    problems_.push_back({0, {}, message});
    return;
  }
  const YamlEntry* entry = FindExtends(layers_.back().tree.root);
  ReportAt(layers_.back(), entry == nullptr ? TextPosition{} : entry->value.position,
           absl::StrCat("extends: ", message));
}

void ConfigAssembler::ReportAt(const Layer& layer, const TextPosition& position,
                               absl::string_view message) {
  problems_.push_back(
      {layer.rank, position, absl::StrCat(PositionText(layer.name, position), ": ", message)});
}

void ConfigAssembler::ApplyLayers() {
  for (size_t i = layers_.size(); i-- > 0;) ApplyLayer(layers_[i]);
}

void ConfigAssembler::ApplyLayer(const Layer& layer) {
  complete_ = complete_ && layer.tree.readable;
  for (const YamlProblem& problem : layer.tree.problems) {
    ReportAt(layer, problem.position, problem.message);
  }
  for (const YamlEntry& entry : layer.tree.root.entries) {
    if (entry.key == "extends") {
      complete_ = complete_ && !entry.value.refused;
    } else if (entry.value.refused) {
      doubtful_.insert(entry.key);
    } else if (SectionNames().count(entry.key) > 0) {
      ApplySection(layer, entry);
    } else if (FieldPaths().count(entry.key) > 0 && !absl::StrContains(entry.key, ".")) {
      ApplyField(layer, entry.key, entry);
    } else {
      ReportUnknownKey(layer, entry.key, entry.position);
    }
  }
}

void ConfigAssembler::ApplySection(const Layer& layer, const YamlEntry& section) {
  if (section.value.kind != YamlNode::Kind::kMap) {
    doubtful_.insert(section.key);
    ReportAt(layer, section.value.position,
             absl::StrCat(section.key, ": a section is a map of its keys; got ",
                          Shown(section.value), "; allowed: ", section.key, ": {key: value}"));
    return;
  }
  for (const YamlEntry& entry : section.value.entries) {
    const std::string path = absl::StrCat(section.key, ".", entry.key);
    if (FieldPaths().count(path) > 0) {
      ApplyField(layer, path, entry);
    } else {
      ReportUnknownKey(layer, path, entry.position);
    }
  }
}

void ConfigAssembler::ApplyField(const Layer& layer, const std::string& path,
                                 const YamlEntry& entry) {
  const YamlNode& value = entry.value;
  const FieldType type = FieldPaths().at(path);
  std::optional<std::string> problem;
  if (!value.refused && type == FieldType::kTextMap && value.kind == YamlNode::Kind::kMap) {
    ApplyMap(layer, path, value);
    return;
  }
  if (!value.refused && type == FieldType::kTextList && value.kind == YamlNode::Kind::kSequence) {
    problem = ApplyList(path, value);
  } else if (!value.refused && value.kind != YamlNode::Kind::kScalar) {
    problem = absl::StrCat("a single value is needed; got ", Shown(value));
  } else if (!value.refused) {
    problem = SetField(config_, path, value.scalar);
  }
  // A field that was refused stays doubtful until another layer sets it.
  if (problem.has_value()) {
    ReportAt(layer, value.position, absl::StrCat(path, ": ", *problem));
  }
  if (problem.has_value() || value.refused) {
    doubtful_.insert(path);
    return;
  }
  // Paths of plugins count from the file that names them.
  if (path == "plugins") StartAt(layer.name, &config_.plugins);
  settings_[path] = {PositionText(layer.name, value.position), layer.rank};
  doubtful_.erase(path);
}

void ConfigAssembler::ApplyMap(const Layer& layer, const std::string& path, const YamlNode& map) {
  if (map.entries.empty()) settings_[path] = {PositionText(layer.name, map.position), layer.rank};
  for (const YamlEntry& entry : map.entries) {
    const YamlNode& value = entry.value;
    const std::string entry_path = absl::StrCat(path, ".", entry.key);
    std::optional<std::string> problem;
    if (!value.refused && value.kind != YamlNode::Kind::kScalar) {
      problem = absl::StrCat("a single value is needed; got ", Shown(value));
    } else if (!value.refused) {
      problem = SetMapEntry(config_, path, entry.key, value.scalar);
    }
    if (problem.has_value()) {
      ReportAt(layer, value.position, absl::StrCat(entry_path, ": ", *problem));
    }
    if (problem.has_value() || value.refused) {
      doubtful_.insert(path);
    } else {
      settings_[path] = {PositionText(layer.name, value.position), layer.rank};
    }
  }
}

std::optional<std::string> ConfigAssembler::ApplyList(const std::string& path,
                                                      const YamlNode& list) {
  std::vector<std::string> items;
  for (const YamlNode& item : list.items) {
    if (item.kind != YamlNode::Kind::kScalar || item.scalar.is_null || item.refused) {
      return absl::StrCat("a list of single values is needed; got ", Shown(item), " in it");
    }
    // Commas separate the items of the text that the schema reads.
    if (absl::StrContains(item.scalar.text, ",")) {
      return absl::StrCat("an item may hold no comma; got ", QuotedForMessage(item.scalar.text));
    }
    items.push_back(item.scalar.text);
  }
  return SetField(config_, path, {absl::StrCat("[", absl::StrJoin(items, ","), "]")});
}

bool ConfigAssembler::ApplyMapOverride(const std::string& shown, const std::string& path,
                                       const std::string& text) {
  const size_t dot = path.rfind('.');
  if (dot == path.npos || dot + 1 == path.size()) return false;
  const std::string map_path = path.substr(0, dot);
  const auto field = FieldPaths().find(map_path);
  if (field == FieldPaths().end() || field->second != FieldType::kTextMap) return false;
  const auto problem = SetMapEntry(config_, map_path, path.substr(dot + 1),
                                   {text, false, text == "null" || text == "~"});
  if (problem.has_value()) {
    doubtful_.insert(map_path);
    ReportOverride(shown, *problem);
  } else {
    settings_[map_path] = {shown, kOverrideRank};
  }
  return true;
}

void ConfigAssembler::ReportUnknownKey(const Layer& layer, const std::string& path,
                                       const TextPosition& position) {
  std::string suggestion;
  std::string hint;
  if (FieldPaths().count(path) > 0) {
    suggestion = path;
    const size_t dot = path.find('.');
    hint = absl::StrCat("; dotted keys are for the command line; allowed: ", path.substr(0, dot),
                        ": {", path.substr(dot + 1), ": value}");
  } else if (problems_.size() < kMaxProblems) {  // beyond it nothing is printed
    hint = NearestKeyHint(path, &suggestion);
  }
  if (!suggestion.empty()) doubtful_.insert(suggestion);
  ReportAt(layer, position, absl::StrCat(path, ": unknown key", hint));
}

void ConfigAssembler::ReportOverride(const std::string& shown, absl::string_view message) {
  const TextPosition position = {static_cast<int>(problems_.size()) + 1, 1};
  problems_.push_back({kOverrideRank, position, absl::StrCat(shown, ": ", message)});
}

void ConfigAssembler::ApplyOverride(const std::string& assignment) {
  const bool readable = IsPrintableUtf8(assignment) && assignment.size() <= 200;
  const std::string shown =
      absl::StrCat("command line: ", readable ? assignment : QuotedForMessage(assignment));
  // Split into path and value.
  const size_t equals = assignment.find('=');
  const std::string path = assignment.substr(0, equals);
  if (equals == assignment.npos || path.empty()) {
    ReportOverride(shown, "not a setting; allowed: key.path=value");
    return;
  }
  // Paths that no value can be given for.
  if (path == "extends") {
    ReportOverride(shown, "extends belongs in a file; allowed: key.path=value");
    return;
  }
  if (SectionNames().count(path) > 0) {
    doubtful_.insert(path);
    ReportOverride(shown, absl::StrCat("a section has no value; allowed: ", path, ".key=value"));
    return;
  }
  // Entries of maps, and keys that do not exist.
  const std::string text = assignment.substr(equals + 1);
  if (ApplyMapOverride(shown, path, text)) return;
  if (FieldPaths().count(path) == 0) {
    std::string suggestion;
    ReportOverride(shown, absl::StrCat("unknown key", NearestKeyHint(path, &suggestion)));
    if (!suggestion.empty()) doubtful_.insert(suggestion);
    return;
  }
  // Set the field.
  const auto earlier = settings_.find(path);
  if (earlier != settings_.end() && earlier->second.rank == kOverrideRank) {
    ReportOverride(shown, "duplicate key; set twice on the command line");
    return;
  }
  const auto problem = SetField(config_, path, {text, false, text == "null" || text == "~"});
  if (problem.has_value()) {
    doubtful_.insert(path);
    ReportOverride(shown, *problem);
    return;
  }
  doubtful_.erase(path);
  settings_[path] = {shown, kOverrideRank};
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
  return 2 * num_together < static_cast<int64_t>(FieldPaths().size());
}

void ConfigAssembler::ReportConsistency(const std::vector<ConsistencyError>& errors) {
  for (const ConsistencyError& error : errors) {
    if (InDoubt(error) || (error.only_if_set_after && !IsSetAfter(error))) continue;
    // Points at the key that was set last; the first of equals.
    Setting last = {"defaults", -1000};
    for (const std::string& key : error.keys) {
      const auto set = settings_.find(key);
      if (set != settings_.end() && set->second.rank > last.rank) last = set->second;
    }
    problems_.push_back({kConsistencyRank,
                         {static_cast<int>(problems_.size()), 1},
                         absl::StrCat(last.where, ": ", error.keys.front(), ": ", error.message)});
  }
}

std::string ConfigAssembler::JoinedProblems() {
  // The named file first, then what it extends, the command line, rules between fields.
  const auto order = [](const Problem& problem) {
    return std::tuple(std::max(problem.rank, 0), -problem.rank, problem.position.line,
                      problem.position.column);
  };
  std::stable_sort(problems_.begin(), problems_.end(),
                   [&order](const Problem& a, const Problem& b) { return order(a) < order(b); });
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::min(problems_.size(), kMaxProblems); ++i) {
    lines.push_back(problems_[i].line);
  }
  if (problems_.size() > kMaxProblems) {
    lines.push_back(absl::StrCat("and ", problems_.size() - kMaxProblems, " more problems"));
  }
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<LoadedConfig> ConfigAssembler::Finish(const ConfigRule& extra_rule) {
  if (complete_) ReportConsistency(ConsistencyErrors(config_));
  if (complete_ && extra_rule != nullptr) ReportConsistency(extra_rule(config_));
  if (!problems_.empty()) return absl::InvalidArgumentError(JoinedProblems());
  LoadedConfig loaded;
  loaded.config = config_;
  for (const Layer& layer : layers_) loaded.files.push_back(layer.name);
  for (const auto& [path, setting] : settings_) {
    loaded.set_at[path] = setting.rank == kOverrideRank ? "command line" : setting.where;
  }
  return loaded;
}

}  // namespace lzero
