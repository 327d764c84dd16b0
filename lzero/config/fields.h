// The fields of a config as a list. A field is declared once, by a call in the Visit method of its
// section; loading, dump, explain and diff treat all fields of a list alike (schema.h). Knows
// nothing of texts. A list points into the config it was made of, and belongs to one thread.
#ifndef LZERO_CONFIG_FIELDS_H_
#define LZERO_CONFIG_FIELDS_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lzero/config/device.h"

namespace lzero {

// Bounds of a number; an open bound excludes its value.
struct Range {
  double low = 0.0;
  double high = 1.0;
  bool low_open = false;
  bool high_open = false;
};

// Ranges that many fields have.
inline constexpr Range kFractionRange = {0, 1};
inline constexpr Range kStepsRange = {0, 1e12};

// Where an enum of int is stored, read and set as the index of its value.
struct ChoiceIndex {
  void* value;
  int Get() const {
    int index;
    std::memcpy(&index, value, sizeof(index));
    return index;
  }
  void Set(int index) const { std::memcpy(value, &index, sizeof(index)); }
};

// Where a field is stored: its default before a text is read, its setting after it.
using FieldValue =
    std::variant<int64_t*, double*, bool*, std::string*, ChoiceIndex, std::optional<int64_t>*,
                 std::optional<double>*, std::map<std::string, std::string>*,
                 std::vector<std::string>*, Device*, std::optional<Device>*>;

// What a field is, and where the value of one config is.
struct ConfigField {
  absl::string_view section, section_help;  // "" for the fields beside the sections
  absl::string_view name;                   // key inside its section
  std::string path;                         // "train.batch_size"
  FieldValue value;
  Range range;                          // of numbers
  std::vector<std::string> choices;     // of enums
  absl::string_view help;               // one sentence
  absl::string_view unit;               // "tokens", "env steps", "updates"; empty for pure numbers
  absl::string_view source;             // paper or reference the default comes from
  absl::string_view no_value = "null";  // how an optional number without a value is written

  template <typename T>
  bool Is() const {
    return std::holds_alternative<T>(value);
  }
};

// What a Visit method calls, once a field. All texts must be literals.
class FieldList {
 public:
  // Fields from here on belong to section `name`, which `help` explains; "": beside the sections.
  void Begin(absl::string_view name, absl::string_view help) { section_ = name, help_ = help; }

  // A number; where it is optional, null in YAML is nullopt.
  void operator()(absl::string_view name, FieldValue value, Range range, absl::string_view help,
                  absl::string_view unit = "", absl::string_view source = "") {
    std::string path = absl::StrCat(section_, section_.empty() ? "" : ".", name);
    fields.push_back(
        {section_, help_, name, std::move(path), value, range, {}, help, unit, source});
  }
  // A truth value, a device, a text, or a map or list of texts, each kept as it was written.
  void operator()(absl::string_view name, FieldValue value, const char* help,
                  absl::string_view unit = "", absl::string_view source = "") {
    (*this)(name, value, Range(), help, unit, source);
  }
  // An enum whose values count up from 0 in the order of `names`.
  template <typename E, typename = std::enable_if_t<std::is_enum_v<E>>>
  void operator()(absl::string_view name, E* value, std::vector<std::string> names,
                  absl::string_view help, absl::string_view unit = "",
                  absl::string_view source = "") {
    static_assert(sizeof(E) == sizeof(int));
    (*this)(name, ChoiceIndex{value}, Range(), help, unit, source);
    fields.back().choices = std::move(names);
  }

  // The last field, an optional number, is written "auto" where it has no value.
  void IsAutoWithoutValue() { fields.back().no_value = "auto"; }

  std::vector<ConfigField> fields;

 private:
  absl::string_view section_, help_;
};

}  // namespace lzero

#endif  // LZERO_CONFIG_FIELDS_H_
