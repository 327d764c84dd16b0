#include "lzero/config/dump.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/schema.h"
#include "lzero/config/synonyms.h"

namespace lzero {
namespace {

std::string FieldParagraph(const ConfigField& field) {
  std::string text = absl::StrCat(field.path, "\n  ", field.help, ".\n");
  absl::StrAppend(&text, "  allowed: ", AllowedText(field), "\n  default: ", ValueText(field),
                  "\n");
  if (!field.unit.empty()) absl::StrAppend(&text, "  unit: ", field.unit, "\n");
  if (!field.source.empty()) absl::StrAppend(&text, "  source: ", field.source, "\n");
  return text;
}

// Another program's name of a key, explained under ours; "" when `key` is none.
std::string SynonymParagraph(absl::string_view key, const std::vector<ConfigField>& fields) {
  const Synonyms* const synonym = FindSynonym(key);
  if (synonym == nullptr) return "";
  const ConfigField* const field = FindField(fields, synonym->key);
  if (field == nullptr) return absl::StrCat(key, ": ", synonym->remark, "\n");
  return absl::StrCat(key, ": here ", field->path, *synonym->remark != '\0' ? "; " : "",
                      synonym->remark, "\n", FieldParagraph(*field));
}

// As a search reads it: small letters, '_' and the '*' of a pattern as spaces.
std::string Searched(absl::string_view text) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(text), {{"_", " "}, {"*", " "}});
}

// One line for each field with all of `words` in its key or in what is said about it; of a pattern
// with stars in its key.
std::string SearchLines(absl::string_view pattern, const std::vector<std::string>& words,
                        const std::vector<ConfigField>& fields) {
  const bool keys_alone = absl::StrContains(pattern, '*');
  std::string lines;
  for (const ConfigField& field : fields) {
    const std::string text = Searched(
        keys_alone ? field.path : absl::StrCat(field.path, " ", field.help, " ", field.source));
    const auto is_there = [&](const std::string& word) { return absl::StrContains(text, word); };
    if (!std::all_of(words.begin(), words.end(), is_there)) continue;
    absl::StrAppendFormat(&lines, "%-33s %s\n", field.path, field.help);
  }
  return lines;
}

// A field as a task of a file with these `beside` its tasks has to write it: entries of a map that
// it does not have are taken away.
std::string TaskValueText(const ConfigField& field, const ConfigField& beside) {
  using Map = std::map<std::string, std::string>;
  std::string text = ValueText(field);
  if (!field.Is<Map*>()) return text;
  const Map& map = *std::get<Map*>(field.value);
  for (const auto& [name, value] : *std::get<Map*>(beside.value)) {
    if (map.contains(name)) continue;
    text.insert(text.size() - 1, absl::StrCat(text == "{}" ? "" : ", ", YamlText(name), ": null"));
  }
  return text;
}

// A block a section, a line a field; those that are as in `beside` are left out.
std::string BlocksOf(const std::vector<ConfigField>& fields, const std::vector<ConfigField>& beside,
                     absl::string_view indent) {
  std::string yaml;
  absl::string_view section;
  for (size_t i = 0; i < fields.size(); ++i) {
    const ConfigField& field = fields[i];
    const std::string text = beside.empty() ? ValueText(field) : TaskValueText(field, beside[i]);
    if (!beside.empty() && text == ValueText(beside[i])) continue;
    if (field.section != section && !field.section.empty()) {
      absl::StrAppend(&yaml, indent, field.section, ":\n");
    }
    section = field.section;
    absl::StrAppend(&yaml, indent, section.empty() ? "" : "  ", field.name, ": ", text, "\n");
  }
  return yaml;
}

std::vector<ConfigDifference> DiffFields(const std::vector<ConfigField>& a,
                                         const std::vector<ConfigField>& b) {
  std::vector<ConfigDifference> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string text_a = ValueText(a[i]), text_b = ValueText(b[i]);
    if (text_a != text_b) differences.push_back({a[i].path, text_a, text_b});
  }
  return differences;
}

}  // namespace

std::string ResolvedYaml(ExperimentConfig config) {
  const std::vector<ConfigField> fields = FieldsOf(config);
  std::string yaml = BlocksOf(fields, {}, "");
  if (!config.tasks.empty()) absl::StrAppend(&yaml, "tasks:\n");
  for (ExperimentConfig& task : config.tasks) {
    absl::StrAppend(&yaml, "  - name: ", task.name, "\n", BlocksOf(FieldsOf(task), fields, "    "));
  }
  return yaml;
}

std::vector<ConfigDifference> DiffConfigs(ExperimentConfig a, ExperimentConfig b) {
  std::vector<ConfigDifference> differences = DiffFields(FieldsOf(a), FieldsOf(b));
  const size_t num_beside = differences.size();  // of what stands beside the tasks
  std::map<std::string, std::pair<ExperimentConfig*, ExperimentConfig*>> tasks;
  for (ExperimentConfig& task : a.tasks) tasks[task.name].first = &task;
  for (ExperimentConfig& task : b.tasks) tasks[task.name].second = &task;
  for (const auto& [name, both] : tasks) {
    const std::string key = absl::StrCat("tasks.", name);
    if (both.first == nullptr || both.second == nullptr) {
      const auto text = [](const ExperimentConfig* task) {
        return task == nullptr ? "none" : "a task";
      };
      differences.push_back({key, text(both.first), text(both.second)});
      continue;
    }
    for (ConfigDifference& own : DiffFields(FieldsOf(*both.first), FieldsOf(*both.second))) {
      const auto is_same = [&own](const ConfigDifference& told) {
        return told.key == own.key && told.a == own.a && told.b == own.b;
      };
      const auto beside = differences.begin() + static_cast<std::ptrdiff_t>(num_beside);
      if (std::any_of(differences.begin(), beside, is_same)) continue;
      own.key = absl::StrCat(key, ".", own.key);
      differences.push_back(std::move(own));
    }
  }
  return differences;
}

absl::StatusOr<std::string> ExplainKey(absl::string_view key) {
  std::string text;
  absl::string_view section;
  ExperimentConfig defaults;
  const std::vector<ConfigField> fields = FieldsOf(defaults);
  for (const ConfigField& field : fields) {
    const bool whole_section = key.empty() || field.section == key;
    const bool is_within = absl::StartsWith(key, absl::StrCat(field.path, "."));  // a map's entry
    if (!whole_section && !is_within && field.path != key && field.name != key) continue;
    if (whole_section && field.section != section && !field.section.empty()) {
      absl::StrAppend(&text, field.section, ": ", field.section_help, "\n\n");
    }
    section = field.section;
    absl::StrAppend(&text, FieldParagraph(field), key.empty() ? "\n" : "");
  }
  if (text.empty()) text = SynonymParagraph(key, fields);
  // The words as they stand, else in any order.
  const std::string wanted(absl::StripAsciiWhitespace(Searched(key)));
  if (text.empty() && !wanted.empty()) text = SearchLines(key, {wanted}, fields);
  if (text.empty() && !wanted.empty()) text = SearchLines(key, absl::StrSplit(wanted, ' '), fields);
  if (!text.empty()) return text;
  return absl::NotFoundError(
      absl::StrCat("unknown key; got ", QuotedForMessage(key), NearestKeyHint(key, nullptr)));
}

}  // namespace lzero
