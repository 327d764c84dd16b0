#include "lzero/config/dump.h"

#include <algorithm>
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

}  // namespace

std::string ResolvedYaml(ExperimentConfig config) {
  std::string yaml;
  absl::string_view section;
  for (const ConfigField& field : FieldsOf(config)) {
    if (field.section != section && !field.section.empty()) {
      absl::StrAppend(&yaml, field.section, ":\n");
    }
    section = field.section;
    absl::StrAppend(&yaml, section.empty() ? "" : "  ", field.name, ": ", ValueText(field), "\n");
  }
  return yaml;
}

std::vector<ConfigDifference> DiffConfigs(ExperimentConfig a, ExperimentConfig b) {
  const std::vector<ConfigField> fields_a = FieldsOf(a), fields_b = FieldsOf(b);
  std::vector<ConfigDifference> differences;
  for (size_t i = 0; i < fields_a.size(); ++i) {
    const std::string text_a = ValueText(fields_a[i]), text_b = ValueText(fields_b[i]);
    if (text_a != text_b) differences.push_back({fields_a[i].path, text_a, text_b});
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
    if (!whole_section && field.path != key && field.name != key) continue;
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
