#include "lzero/config/explain.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/schema.h"

namespace lzero {
namespace {

std::string FieldParagraph(const FieldDescription& field, const std::string& default_text) {
  std::string text = absl::StrCat(field.path, "\n  ", field.help, ".\n");
  absl::StrAppend(&text, "  allowed: ", AllowedText(field), "\n  default: ", default_text, "\n");
  if (!field.unit.empty()) absl::StrAppend(&text, "  unit: ", field.unit, "\n");
  if (!field.source.empty()) absl::StrAppend(&text, "  source: ", field.source, "\n");
  return text;
}

}  // namespace

absl::StatusOr<std::string> ExplainKey(absl::string_view key) {
  std::string text;
  std::string section;
  ExperimentConfig defaults;
  const std::vector<SectionDescription> sections = AllSections();
  ForEachField(defaults, [&](const FieldDescription& field, const FieldValue& value) {
    const bool whole_section = key.empty() || field.section == key;
    if (!whole_section && field.path != key && field.name != key) return;
    if (whole_section && field.section != section) {
      section = field.section;
      for (const SectionDescription& known : sections) {
        if (known.name == section) absl::StrAppend(&text, section, ": ", known.help, "\n\n");
      }
    }
    absl::StrAppend(&text, FieldParagraph(field, ValueText(field, value)), key.empty() ? "\n" : "");
  });
  if (!text.empty()) return text;
  return absl::NotFoundError(
      absl::StrCat("unknown key; got ", QuotedForMessage(key), NearestKeyHint(key, nullptr)));
}

}  // namespace lzero
