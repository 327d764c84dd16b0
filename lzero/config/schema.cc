#include "lzero/config/schema.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

using FieldFunction = std::function<void(const FieldDescription&, const FieldValue&)>;

// Turns the calls of a visit into one callback a field, or into one for the field `only_path`.
class FieldLister : public FieldVisitor {
 public:
  explicit FieldLister(const FieldFunction& visit, absl::string_view only_path = "")
      : visit_(visit), only_path_(only_path) {}

  const std::vector<SectionDescription>& sections() const { return sections_; }

  void BeginSection(const char* name, const char* help) override {
    section_ = name;
    sections_.push_back({name, help});
  }
  void EndSection() override { section_.clear(); }

  void Int(const FieldInfo& field, int64_t* value, Range range) override {
    Emit(field, FieldType::kInt, value, range);
  }
  void Float(const FieldInfo& field, double* value, Range range) override {
    Emit(field, FieldType::kFloat, value, range);
  }
  void Bool(const FieldInfo& field, bool* value) override { Emit(field, FieldType::kBool, value); }
  void Text(const FieldInfo& field, std::string* value) override {
    Emit(field, FieldType::kText, value);
  }
  void TextMap(const FieldInfo& field, std::map<std::string, std::string>* value) override {
    Emit(field, FieldType::kTextMap, value);
  }
  void TextList(const FieldInfo& field, std::vector<std::string>* value) override {
    Emit(field, FieldType::kTextList, value);
  }
  void ChoiceIndex(const FieldInfo& field, int* value,
                   const std::vector<std::string>& names) override {
    Emit(field, FieldType::kChoice, value, {0, 0}, names);
  }
  void OptionalInt(const FieldInfo& field, std::optional<int64_t>* value, Range range) override {
    Emit(field, FieldType::kInt, value, range);
  }
  void OptionalFloat(const FieldInfo& field, std::optional<double>* value, Range range) override {
    Emit(field, FieldType::kFloat, value, range);
  }

 private:
  void Emit(const FieldInfo& field, FieldType type, const FieldValue& value, Range range = {0, 0},
            const std::vector<std::string>& choices = {}) {
    FieldDescription description;
    description.path = section_.empty() ? field.name : absl::StrCat(section_, ".", field.name);
    if (!only_path_.empty() && description.path != only_path_) return;
    description.section = section_;
    description.name = field.name;
    description.help = field.help;
    description.unit = field.unit;
    description.source = field.source;
    description.type = type;
    description.optional = std::holds_alternative<std::optional<int64_t>*>(value) ||
                           std::holds_alternative<std::optional<double>*>(value);
    description.range = range;
    description.choices = choices;
    visit_(description, value);
  }

  const FieldFunction& visit_;
  const absl::string_view only_path_;
  std::string section_;
  std::vector<SectionDescription> sections_;
};

std::string BoundText(const FieldDescription& field, double bound) {
  return field.type == FieldType::kInt ? absl::StrCat(static_cast<int64_t>(bound))
                                       : FloatText(bound);
}

bool InRange(const Range& range, double value) {
  const bool above = range.low_open ? value > range.low : value >= range.low;
  const bool below = range.high_open ? value < range.high : value <= range.high;
  return above && below;
}

std::string Problem(const FieldDescription& field, absl::string_view what,
                    const ScalarText& scalar) {
  // "what" may end in "; did you mean", which comes last.
  const size_t hint = what.find("; did you mean");
  const absl::string_view suggestion = hint == what.npos ? "" : what.substr(hint);
  return absl::StrCat(what.substr(0, hint), "; got ",
                      scalar.is_null ? "null" : QuotedForMessage(scalar.text),
                      scalar.quoted && field.type != FieldType::kText ? " in quotes" : "",
                      "; allowed: ", AllowedText(field), suggestion);
}

template <typename Number>
std::optional<std::string> SetNumber(const FieldDescription& field, const ScalarText& scalar,
                                     const absl::StatusOr<Number>& parsed, const auto& store) {
  if (scalar.quoted) {
    return Problem(field, field.type == FieldType::kInt ? "not an integer" : "not a number",
                   scalar);
  }
  if (!parsed.ok()) return Problem(field, parsed.status().message(), scalar);
  if (!InRange(field.range, static_cast<double>(*parsed))) {
    return Problem(field, "out of range", scalar);
  }
  store(*parsed);
  return std::nullopt;
}

std::optional<std::string> SetChoice(const FieldDescription& field, const ScalarText& scalar,
                                     int* value) {
  for (size_t i = 0; i < field.choices.size(); ++i) {
    if (field.choices[i] == scalar.text) {
      *value = static_cast<int>(i);
      return std::nullopt;
    }
  }
  const std::string hint = scalar.text.size() > 100 ? "" : DidYouMean(scalar.text, field.choices);
  return Problem(field, absl::StrCat("unknown choice", hint), scalar);
}

std::optional<std::string> SetText(const FieldDescription& field, const ScalarText& scalar,
                                   std::string* value) {
  if (scalar.text.empty()) return Problem(field, "empty", scalar);
  if (!IsPrintableUtf8(scalar.text)) {
    return Problem(field, "control characters or bytes that are not UTF-8", scalar);
  }
  *value = scalar.text;
  return std::nullopt;
}

std::optional<std::string> SetTextList(const FieldDescription& field, const ScalarText& scalar,
                                       std::vector<std::string>* value) {
  absl::string_view text = scalar.text;
  if (absl::ConsumePrefix(&text, "[") && !absl::ConsumeSuffix(&text, "]")) {
    return Problem(field, "the list is not closed", scalar);
  }
  std::vector<std::string> items;
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(item);
    if (stripped.empty() && items.empty() && text.find(',') == text.npos) break;  // nothing at all
    if (stripped.empty()) return Problem(field, "an empty item", scalar);
    if (!IsPrintableUtf8(stripped)) {
      return Problem(field, "control characters or bytes that are not UTF-8", scalar);
    }
    items.emplace_back(stripped);
  }
  *value = std::move(items);
  return std::nullopt;
}

std::string MapText(const std::map<std::string, std::string>& entries) {
  return absl::StrCat("{",
                      absl::StrJoin(entries, ", ",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(out, YamlText(entry.first), ": ",
                                                      YamlText(entry.second));
                                    }),
                      "}");
}

std::string ListText(const std::vector<std::string>& items) {
  return absl::StrCat("[",
                      absl::StrJoin(items, ", ",
                                    [](std::string* out, const std::string& item) {
                                      absl::StrAppend(out, YamlText(item));
                                    }),
                      "]");
}

std::string NumberText(int64_t value) { return absl::StrCat(value); }
std::string NumberText(double value) { return FloatText(value); }

}  // namespace

void ForEachField(ExperimentConfig& config, const FieldFunction& visit) {
  FieldLister lister(visit);
  config.Visit(lister);
}

std::vector<FieldDescription> AllFields() {
  std::vector<FieldDescription> fields;
  ExperimentConfig config;
  ForEachField(config, [&fields](const FieldDescription& field, const FieldValue&) {
    fields.push_back(field);
  });
  return fields;
}

std::vector<SectionDescription> AllSections() {
  const FieldFunction ignore = [](const FieldDescription&, const FieldValue&) {};
  FieldLister lister(ignore);
  ExperimentConfig config;
  config.Visit(lister);
  return lister.sections();
}

std::string AllowedText(const FieldDescription& field) {
  const char* null = field.optional ? ", or null" : "";
  switch (field.type) {
    case FieldType::kBool:
      return "true or false";
    case FieldType::kText:
      return "printable text";
    case FieldType::kTextMap:
      return "{name: value, ...}, or single entries: this key, then .name=value";
    case FieldType::kTextList:
      return "[text, ...]";
    case FieldType::kChoice:
      return field.choices.size() == 1
                 ? field.choices[0]
                 : absl::StrCat("one of ", absl::StrJoin(field.choices, ", "));
    case FieldType::kInt:
    case FieldType::kFloat:
      break;
  }
  const Range& range = field.range;
  return absl::StrCat(field.type == FieldType::kInt ? "an integer " : "a number ",
                      range.low_open ? "above " : "from ", BoundText(field, range.low),
                      range.high_open ? " to below " : " to ", BoundText(field, range.high), null);
}

std::string ValueText(const FieldDescription& field, const FieldValue& value) {
  return std::visit(
      [&field](const auto* stored) -> std::string {
        using Stored = std::remove_cv_t<std::remove_pointer_t<decltype(stored)>>;
        if constexpr (std::is_same_v<Stored, bool>) {
          return *stored ? "true" : "false";
        } else if constexpr (std::is_same_v<Stored, std::string>) {
          return YamlText(*stored);
        } else if constexpr (std::is_same_v<Stored, std::map<std::string, std::string>>) {
          return MapText(*stored);
        } else if constexpr (std::is_same_v<Stored, std::vector<std::string>>) {
          return ListText(*stored);
        } else if constexpr (std::is_same_v<Stored, int>) {
          return field.choices.at(static_cast<size_t>(*stored));
        } else if constexpr (std::is_arithmetic_v<Stored>) {
          return NumberText(*stored);
        } else {
          return stored->has_value() ? NumberText(**stored) : "null";
        }
      },
      value);
}

std::optional<std::string> SetFromText(const FieldDescription& field, const FieldValue& value,
                                       const ScalarText& scalar) {
  if (scalar.is_null && !field.optional) return Problem(field, "a value is needed", scalar);
  return std::visit(
      [&](auto* stored) -> std::optional<std::string> {
        using Stored = std::remove_pointer_t<decltype(stored)>;
        const auto store = [stored](auto parsed) { *stored = parsed; };
        if constexpr (std::is_same_v<Stored, bool>) {
          const absl::StatusOr<bool> parsed = ParseBool(scalar.text);
          if (scalar.quoted) return Problem(field, "not a truth value", scalar);
          if (!parsed.ok()) return Problem(field, parsed.status().message(), scalar);
          *stored = *parsed;
          return std::nullopt;
        } else if constexpr (std::is_same_v<Stored, std::string>) {
          return SetText(field, scalar, stored);
        } else if constexpr (std::is_same_v<Stored, std::map<std::string, std::string>>) {
          if (scalar.text != "{}") return Problem(field, "a map is needed", scalar);
          stored->clear();
          return std::nullopt;
        } else if constexpr (std::is_same_v<Stored, std::vector<std::string>>) {
          return SetTextList(field, scalar, stored);
        } else if constexpr (std::is_same_v<Stored, int>) {
          return SetChoice(field, scalar, stored);
        } else if constexpr (std::is_same_v<Stored, int64_t>) {
          return SetNumber(field, scalar, ParseInt(scalar.text), store);
        } else if constexpr (std::is_same_v<Stored, double>) {
          return SetNumber(field, scalar, ParseFloat(scalar.text), store);
        } else {
          if (scalar.is_null) {
            stored->reset();
            return std::nullopt;
          }
          if constexpr (std::is_same_v<Stored, std::optional<int64_t>>) {
            return SetNumber(field, scalar, ParseInt(scalar.text), store);
          } else {
            return SetNumber(field, scalar, ParseFloat(scalar.text), store);
          }
        }
      },
      value);
}

std::optional<std::string> SetField(ExperimentConfig& config, absl::string_view path,
                                    const ScalarText& scalar) {
  bool found = false;
  std::optional<std::string> problem;
  const FieldFunction set = [&](const FieldDescription& field, const FieldValue& value) {
    found = true;
    problem = SetFromText(field, value, scalar);
  };
  FieldLister lister(set, path);
  config.Visit(lister);
  LZ_CHECK(found, "no field ", path);
  return problem;
}

absl::Status CheckRanges(SearchConfig search) {
  absl::Status status;
  const FieldFunction check = [&status](const FieldDescription& field, const FieldValue& value) {
    if (field.type != FieldType::kInt && field.type != FieldType::kFloat) return;
    const std::string text = ValueText(field, value);
    const auto problem = SetFromText(field, value, {.text = text, .is_null = text == "null"});
    if (problem.has_value()) {
      status.Update(absl::InvalidArgumentError(absl::StrCat(field.path, ": ", *problem)));
    }
  };
  FieldLister lister(check);
  search.Visit(lister);
  return status;
}

std::optional<std::string> SetMapEntry(ExperimentConfig& config, absl::string_view path,
                                       const std::string& name, const ScalarText& scalar) {
  std::optional<std::string> problem;
  const FieldFunction set = [&](const FieldDescription& field, const FieldValue& value) {
    auto* const* map = std::get_if<std::map<std::string, std::string>*>(&value);
    LZ_CHECK(map != nullptr, path, " is no map");
    if (scalar.is_null) {
      (*map)->erase(name);
      return;
    }
    std::string text;
    FieldDescription entry = field;
    entry.type = FieldType::kText;
    problem = SetText(entry, scalar, &text);
    if (!problem.has_value()) (**map)[name] = std::move(text);
  };
  FieldLister lister(set, path);
  config.Visit(lister);
  return problem;
}

std::string NearestKeyHint(absl::string_view path, std::string* suggestion) {
  const size_t dot = path.find('.');
  const absl::string_view section = dot == path.npos ? "" : path.substr(0, dot);
  const absl::string_view name = dot == path.npos ? path : path.substr(dot + 1);
  const std::string prefix = section.empty() ? "" : absl::StrCat(section, ".");
  // Names in the same place, and all names.
  std::vector<std::string> beside;  // names that may stand in the same place
  std::vector<std::string> all_names;
  std::vector<std::string> all_paths;
  if (section.empty()) {
    for (const SectionDescription& known : AllSections()) beside.push_back(known.name);
  }
  std::string nearest;
  for (const FieldDescription& field : AllFields()) {
    if (field.section == section) beside.push_back(field.name);
    if (field.name == name && nearest.empty()) nearest = field.path;
    all_names.push_back(field.name);
    all_paths.push_back(field.path);
  }
  // The nearest name: in the same section, else anywhere.
  if (nearest.empty() && path.size() <= 100) {
    if (const std::string sibling = NearestName(name, beside); !sibling.empty()) {
      nearest = prefix + sibling;
    } else if (const std::string leaf = NearestName(name, all_names); !leaf.empty()) {
      const auto at = std::find(all_names.begin(), all_names.end(), leaf) - all_names.begin();
      nearest = all_paths[static_cast<size_t>(at)];
    }
  }
  if (suggestion != nullptr) *suggestion = nearest;
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?");
  return beside.empty() ? "" : absl::StrCat("; allowed: ", absl::StrJoin(beside, ", "));
}

}  // namespace lzero
