#include "lzero/config/schema.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/config/device.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/synonyms.h"

namespace lzero {
namespace {

using TextMap = std::map<std::string, std::string>;
using TextList = std::vector<std::string>;

bool IsInteger(const ConfigField& field) {
  return field.Is<int64_t*>() || field.Is<std::optional<int64_t>*>();
}

bool IsOptional(const ConfigField& field) {
  return field.Is<std::optional<int64_t>*>() || field.Is<std::optional<double>*>() ||
         field.Is<std::optional<Device>*>();
}

bool InRange(const Range& range, double value) {
  const bool above = range.low_open ? value > range.low : value >= range.low;
  const bool below = range.high_open ? value < range.high : value <= range.high;
  return above && below;
}

std::string Problem(const ConfigField& field, absl::string_view what, const ScalarText& scalar) {
  // "what" may end in "; did you mean", which comes last.
  const size_t hint = what.find("; did you mean");
  std::string suggestion(hint == what.npos ? "" : what.substr(hint));
  // "1,2": neither a number nor a thousand.
  const std::vector<absl::string_view> parts = absl::StrSplit(scalar.text, ',');
  const bool are_values =
      parts.size() > 1 && std::all_of(parts.begin(), parts.end(), [](auto part) {
        return !part.empty() && part.size() < 3 && ParseFloat(part).ok();
      });
  if (are_values && !field.Is<std::string*>()) {
    suggestion = absl::StrCat("; for several runs: sweep CONFIG ",
                              field.path == "seed" ? "--seeds " : absl::StrCat(field.path, "="),
                              scalar.text);
  }
  return absl::StrCat(what.substr(0, hint), "; got ",
                      scalar.is_null ? "null" : QuotedForMessage(scalar.text),
                      scalar.quoted && !field.Is<std::string*>() ? " in quotes" : "",
                      "; allowed: ", AllowedText(field), suggestion);
}

// The parts between commas, those in brackets left out: "a(1, 2), b" are two.
std::vector<absl::string_view> SplitItems(absl::string_view text) {
  std::vector<absl::string_view> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::StrContains("([{", text[i])) ++depth;
    if (absl::StrContains(")]}", text[i])) depth = std::max(0, depth - 1);
    if (text[i] != ',' || depth > 0) continue;
    items.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  items.push_back(text.substr(begin));
  return items;
}

// Sets one kind of value from a scalar that is not null.
struct Setter {
  using Result = std::optional<std::string>;  // a problem

  const ConfigField& field;
  const ScalarText& scalar;

  Result Refuse(absl::string_view what) const { return Problem(field, what, scalar); }

  template <typename T>
  Result Store(const absl::StatusOr<T>& parsed, absl::string_view no_such, auto* stored) const {
    if (scalar.quoted) return Refuse(no_such);
    if (!parsed.ok()) return Refuse(parsed.status().message());
    if (!InRange(field.range, static_cast<double>(*parsed))) return Refuse("out of range");
    *stored = *parsed;
    return std::nullopt;
  }
  Result Set(bool* stored) const {
    return Store(ParseBool(scalar.text), "not a truth value", stored);
  }
  Result Set(int64_t* stored) const {
    return Store(ParseInt(scalar.text), "not an integer", stored);
  }
  Result Set(double* stored) const {
    return Store(ParseFloat(scalar.text), "not a number", stored);
  }
  Result Set(std::optional<int64_t>* stored) const {
    return Store(ParseInt(scalar.text), "not an integer", stored);
  }
  Result Set(std::optional<double>* stored) const {
    return Store(ParseFloat(scalar.text), "not a number", stored);
  }

  Result Set(Device* stored) const {
    const absl::StatusOr<Device> parsed = ParseDevice(scalar.text);
    if (!parsed.ok()) return Refuse(parsed.status().message());
    *stored = *parsed;
    return std::nullopt;
  }
  Result Set(std::optional<Device>* stored) const {
    Device parsed;
    Result problem = Set(&parsed);
    if (!problem.has_value()) *stored = parsed;
    return problem;
  }

  Result Set(ChoiceIndex stored) const {
    const auto found = std::find(field.choices.begin(), field.choices.end(), scalar.text);
    if (found == field.choices.end()) {
      return Refuse(absl::StrCat("unknown choice", DidYouMean(scalar.text, field.choices)));
    }
    stored.Set(static_cast<int>(found - field.choices.begin()));
    return std::nullopt;
  }

  Result Set(std::string* stored) const {
    if (scalar.text.empty()) return Refuse("empty");
    if (!IsPrintableUtf8(scalar.text)) return Refuse(kUnprintable);
    *stored = scalar.text;
    return std::nullopt;
  }

  Result Set(TextMap* stored) const {
    if (scalar.text != "{}") return Refuse("a map is needed");
    stored->clear();
    return std::nullopt;
  }

  Result Set(TextList* stored) const {
    absl::string_view text = scalar.text;
    if (absl::ConsumePrefix(&text, "[") && !absl::ConsumeSuffix(&text, "]")) {
      return Refuse("the list is not closed");
    }
    TextList items;
    for (const absl::string_view item : SplitItems(text)) {
      const absl::string_view stripped = absl::StripAsciiWhitespace(item);
      if (stripped.empty() && items.empty() && text.find(',') == text.npos) break;  // nothing
      if (stripped.empty()) return Refuse("an empty item");
      if (!IsPrintableUtf8(stripped)) return Refuse(kUnprintable);
      items.emplace_back(stripped);
    }
    *stored = std::move(items);
    return std::nullopt;
  }

  static constexpr char kUnprintable[] = "control characters or bytes that are not UTF-8";
};

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(double value) { return FloatText(value); }
std::string Text(const std::string& value) { return YamlText(value); }
std::string Text(const Device& value) { return DeviceText(value); }

std::string Text(const TextMap& value) {
  const auto append = [](std::string* out, const auto& entry) {
    absl::StrAppend(out, YamlText(entry.first), ": ", YamlText(entry.second));
  };
  return absl::StrCat("{", absl::StrJoin(value, ", ", append), "}");
}

std::string Text(const TextList& value) {
  const auto append = [](std::string* out, const std::string& item) { *out += YamlText(item); };
  return absl::StrCat("[", absl::StrJoin(value, ", ", append), "]");
}

}  // namespace

std::vector<ConfigField> FieldsOf(ExperimentConfig& config) {
  FieldList list;
  config.Visit(list);
  return std::move(list.fields);
}

const ConfigField* FindField(const std::vector<ConfigField>& fields, absl::string_view path) {
  for (const ConfigField& field : fields) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

std::string AllowedText(const ConfigField& field) {
  if (field.Is<bool*>()) return "true or false";
  if (field.Is<std::string*>()) return "printable text";
  if (field.Is<TextMap*>()) {
    return "{name: value, ...}, or single entries: this key, then .name=value";
  }
  if (field.Is<TextList*>()) return "[text, ...]";
  if (field.Is<ChoiceIndex>()) return absl::StrCat("one of ", absl::StrJoin(field.choices, ", "));
  if (field.Is<Device*>() || field.Is<std::optional<Device>*>()) {
    return absl::StrCat("one of ", kDeviceNames, IsOptional(field) ? ", or null" : "");
  }
  const Range& range = field.range;
  const auto bound = [&field](double value) {
    return IsInteger(field) ? Text(static_cast<int64_t>(value)) : Text(value);
  };
  return absl::StrCat(IsInteger(field) ? "an integer " : "a number ",
                      range.low_open ? "above " : "from ", bound(range.low),
                      range.high_open ? " to below " : " to ", bound(range.high),
                      IsOptional(field) ? absl::StrCat(", or ", field.no_value) : "");
}

std::string ValueText(const ConfigField& field) {
  return std::visit(
      [&field](auto stored) {
        if constexpr (std::is_same_v<decltype(stored), ChoiceIndex>) {
          return field.choices.at(static_cast<size_t>(stored.Get()));
        } else if constexpr (requires { stored->has_value(); }) {
          return stored->has_value() ? Text(**stored) : std::string(field.no_value);
        } else {
          return Text(*stored);
        }
      },
      field.value);
}

std::string ValueText(ExperimentConfig config, absl::string_view path) {
  const std::vector<ConfigField> fields = FieldsOf(config);
  const ConfigField* field = FindField(fields, path);
  LZ_CHECK(field != nullptr, path);
  return ValueText(*field);
}

std::optional<std::string> SetFromText(const ConfigField& field, const ScalarText& scalar) {
  const Setter setter = {field, scalar};
  if (scalar.is_null && !IsOptional(field)) return setter.Refuse("a value is needed");
  return std::visit(
      [&](auto stored) -> std::optional<std::string> {
        if constexpr (requires { stored->reset(); }) {
          const bool is_word = !scalar.quoted && scalar.text == field.no_value;
          if (scalar.is_null || is_word) return stored->reset(), std::nullopt;
        }
        return setter.Set(stored);
      },
      field.value);
}

std::optional<std::string> SetMapEntry(const ConfigField& field, const std::string& name,
                                       const ScalarText& scalar) {
  LZ_CHECK(field.Is<TextMap*>(), field.path, " is no map");
  TextMap& map = *std::get<TextMap*>(field.value);
  if (scalar.is_null && absl::StrContains(name, ':')) {
    return "an entry without a value; one is written NAME: VALUE, with a space";
  }
  if (scalar.is_null) return map.erase(name), std::nullopt;
  std::string text;
  ConfigField entry = field;
  entry.value = &text;
  auto problem = SetFromText(entry, scalar);
  if (!problem.has_value()) map[name] = std::move(text);
  return problem;
}

absl::Status CheckRanges(SearchConfig search) {
  FieldList list;
  search.Visit(list);
  for (const ConfigField& field : list.fields) {
    const std::string text = ValueText(field);
    const auto problem = SetFromText(field, {.text = text, .is_null = text == "null"});
    if (problem.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(field.path, ": ", *problem));
    }
  }
  return absl::OkStatus();
}

std::string NearestKeyHint(absl::string_view path, std::string* suggestion) {
  const size_t dot = path.find('.');
  const absl::string_view section = dot == path.npos ? "" : path.substr(0, dot);
  const absl::string_view name = dot == path.npos ? path : path.substr(dot + 1);
  ExperimentConfig defaults;
  const std::vector<ConfigField> fields = FieldsOf(defaults);
  if (suggestion != nullptr) suggestion->clear();
  std::vector<std::string> beside;  // names that may stand in the same place
  std::vector<std::string> all_names;
  std::string nearest, remark;
  for (const ConfigField& field : fields) {
    const absl::string_view here = section.empty() && !field.section.empty() ? field.section
                                   : field.section == section                ? field.name
                                                                             : "";
    if (!here.empty() && (beside.empty() || beside.back() != here)) beside.emplace_back(here);
    if (field.name == name && nearest.empty()) nearest = field.path;
    all_names.emplace_back(field.name);
  }
  // What other programs call it; else the nearest name: in the same section, else anywhere.
  if (const Synonyms* synonym = FindSynonym(path); nearest.empty() && synonym != nullptr) {
    nearest = synonym->key;
    if (*synonym->remark != '\0') remark = absl::StrCat("; ", synonym->remark);
    if (nearest.empty()) return remark;
  }
  if (nearest.empty()) {
    if (const std::string sibling = NearestName(name, beside); !sibling.empty()) {
      nearest = absl::StrCat(section, section.empty() ? "" : ".", sibling);
    } else if (const std::string leaf = NearestName(name, all_names); !leaf.empty()) {
      const auto at = std::find(all_names.begin(), all_names.end(), leaf) - all_names.begin();
      nearest = fields[static_cast<size_t>(at)].path;
    }
  }
  if (suggestion != nullptr) *suggestion = nearest;
  if (!nearest.empty()) return absl::StrCat("; did you mean '", nearest, "'?", remark);
  return beside.empty() ? "" : absl::StrCat("; allowed: ", absl::StrJoin(beside, ", "));
}

}  // namespace lzero
