#include "lzero/config/dump.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/config/schema.h"

namespace lzero {
namespace {

struct FieldText {
  FieldDescription field;
  std::string text;
};

std::vector<FieldText> FieldTexts(ExperimentConfig config) {
  std::vector<FieldText> texts;
  ForEachField(config, [&texts](const FieldDescription& field, const FieldValue& value) {
    texts.push_back({field, ValueText(field, value)});
  });
  return texts;
}

}  // namespace

std::string ResolvedYaml(const ExperimentConfig& config) {
  std::string yaml;
  std::string section;
  for (const FieldText& entry : FieldTexts(config)) {
    if (entry.field.section != section) {
      section = entry.field.section;
      if (!section.empty()) absl::StrAppend(&yaml, section, ":\n");
    }
    absl::StrAppend(&yaml, section.empty() ? "" : "  ", entry.field.name, ": ", entry.text, "\n");
  }
  return yaml;
}

std::vector<ConfigDifference> DiffConfigs(const ExperimentConfig& a, const ExperimentConfig& b) {
  const std::vector<FieldText> texts_a = FieldTexts(a);
  const std::vector<FieldText> texts_b = FieldTexts(b);
  std::vector<ConfigDifference> differences;
  for (size_t i = 0; i < texts_a.size(); ++i) {
    if (texts_a[i].text == texts_b[i].text) continue;
    differences.push_back({texts_a[i].field.path, texts_a[i].text, texts_b[i].text});
  }
  return differences;
}

}  // namespace lzero
