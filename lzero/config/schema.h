// The fields of an experiment as a list: what each is, its value as text, and how a text becomes
// its value. Everything that treats all fields alike (loading, dump, explain, diff) is built on
// this. Knows nothing of files and YAML. Thread-safe: no shared state.
#ifndef LZERO_CONFIG_SCHEMA_H_
#define LZERO_CONFIG_SCHEMA_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"

namespace lzero {

enum class FieldType { kInt, kFloat, kBool, kText, kChoice, kTextMap, kTextList };

struct FieldDescription {
  std::string section;  // "" for the fields beside the sections
  std::string name;
  std::string path;  // "train.batch_size"
  std::string help;
  std::string unit;
  std::string source;
  FieldType type = FieldType::kInt;
  bool optional = false;             // null is allowed
  Range range = {0, 0};              // of numbers
  std::vector<std::string> choices;  // of kChoice
};

// The storage of a field; int is an index into FieldDescription::choices.
using FieldValue = std::variant<int64_t*, double*, bool*, std::string*, int*,
                                std::optional<int64_t>*, std::optional<double>*,
                                std::map<std::string, std::string>*, std::vector<std::string>*>;

struct SectionDescription {
  std::string name;
  std::string help;
};

// A scalar as it was written: `text` without quotes; null is written as null, ~ or nothing.
struct ScalarText {
  std::string text;
  bool quoted = false;
  bool is_null = false;
};

// Calls `visit` for every field of `config` in the order of declaration.
void ForEachField(
    ExperimentConfig& config,
    const std::function<void(const FieldDescription& field, const FieldValue& value)>& visit);

std::vector<FieldDescription> AllFields();
std::vector<SectionDescription> AllSections();

// "an integer from 1 to 65536, or null", "one of puct, gumbel".
std::string AllowedText(const FieldDescription& field);

// The value as YAML text that SetFromText reads back to the same value.
std::string ValueText(const FieldDescription& field, const FieldValue& value);

// Sets the value; a list is written with commas, in brackets or not; a map only as {}, its entries
// are set by SetMapEntry. On a problem nothing is changed and the sentence "what; got X; allowed:
// Y" is returned.
std::optional<std::string> SetFromText(const FieldDescription& field, const FieldValue& value,
                                       const ScalarText& scalar);

// Sets the field with this path, as SetFromText. The caller must give the path of a field.
std::optional<std::string> SetField(ExperimentConfig& config, absl::string_view path,
                                    const ScalarText& scalar);

// InvalidArgument "search.pb_c_base: out of range; got '0'; allowed: ..." for the first number that
// SetFromText would refuse, in a section that was not read from text.
absl::Status CheckRanges(SearchConfig search);

// Sets entry `name` of the map field with this path; null removes it. Problems as SetFromText.
std::optional<std::string> SetMapEntry(ExperimentConfig& config, absl::string_view path,
                                       const std::string& name, const ScalarText& scalar);

// "; did you mean 'train.batch_size'?" for a key path that no field or section has, or the names
// that are allowed there. `suggestion` (may be null) receives the path that is suggested, or "".
std::string NearestKeyHint(absl::string_view path, std::string* suggestion);

}  // namespace lzero

#endif  // LZERO_CONFIG_SCHEMA_H_
