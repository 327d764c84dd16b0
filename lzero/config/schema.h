// What works on every field of a config alike: its value as text, its value from text, and the
// nearest key to one that does not exist. Loading, dump, explain and diff are built on this. Knows
// nothing of files and YAML. Thread-safe.
#ifndef LZERO_CONFIG_SCHEMA_H_
#define LZERO_CONFIG_SCHEMA_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"

namespace lzero {

// A scalar as it was written: `text` without quotes; null is written as null, ~ or nothing.
struct ScalarText {
  std::string text;
  bool quoted = false;
  bool is_null = false;
};

// The fields of `config`, in the order of declaration, each pointing into it.
std::vector<ConfigField> FieldsOf(ExperimentConfig& config);

// The field with this path; null when there is none.
const ConfigField* FindField(const std::vector<ConfigField>& fields, absl::string_view path);

// "an integer from 1 to 65536, or null", "one of puct, gumbel".
std::string AllowedText(const ConfigField& field);

// The value as YAML text that SetFromText reads back to the same value.
std::string ValueText(const ConfigField& field);

// The same for the field with this path, which must exist.
std::string ValueText(ExperimentConfig config, absl::string_view path);

// Sets the value; a list is written with commas, in brackets or not, and what an item itself has in
// brackets is one item; a map only as {}, its entries are set by SetMapEntry. On a problem nothing
// is changed and the sentence "what; got X; allowed: Y" is returned.
std::optional<std::string> SetFromText(const ConfigField& field, const ScalarText& scalar);

// Sets entry `name` of a map field; null removes it. Problems as SetFromText.
std::optional<std::string> SetMapEntry(const ConfigField& field, const std::string& name,
                                       const ScalarText& scalar);

// InvalidArgument "search.pb_c_base: out of range; got '0'; allowed: ..." for the first number that
// SetFromText would refuse, in a section that was not read from text.
absl::Status CheckRanges(SearchConfig search);

// "; did you mean 'train.batch_size'?" for a key path that no field or section has: the key that
// another program calls so (synonyms.h), the nearest, or the names allowed there. `suggestion` (may
// be null) receives the path that is suggested, or "".
std::string NearestKeyHint(absl::string_view path, std::string* suggestion);

}  // namespace lzero

#endif  // LZERO_CONFIG_SCHEMA_H_
