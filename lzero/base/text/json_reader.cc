#include "lzero/base/text/json_reader.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr double kFloatMax = std::numeric_limits<float>::max();
// Doubles from here on round to an infinite float; 3.4028235e+38, as kFloatMax is written, stays.
constexpr double kFloatLimit = 0x1.ffffffp127;

std::string Found(const Json& json) {
  if (json.is_discarded()) return "missing";
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : absl::StrCat(text.substr(0, 57), "...");
}

// The field, or a value that fits nowhere.
const Json& Find(const void* object, absl::string_view key) {
  static const Json kMissing(Json::value_t::discarded);
  const Json& json = *static_cast<const Json*>(object);
  const auto found = json.find(std::string_view(key.data(), key.size()));
  return found == json.end() ? kMissing : *found;
}

std::string KeyStep(const std::string& key) {
  const bool is_plain = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-';
  });
  return is_plain ? absl::StrCat(".", key) : absl::StrCat("[", Found(Json(key)), "]");
}

// The way from `json` down to `target`, nothing when it is not below. Values know no parents: only
// a complaint pays for this search.
std::optional<std::string> PathBelow(const Json& json, const void* target) {
  if (&json == target) return "";
  if (!json.is_structured()) return std::nullopt;
  size_t index = 0;
  for (auto item = json.begin(); item != json.end(); ++item, ++index) {
    if (const auto rest = PathBelow(*item, target); rest.has_value()) {
      return absl::StrCat(json.is_array() ? absl::StrCat("[", index, "]") : KeyStep(item.key()),
                          *rest);
    }
  }
  return std::nullopt;
}

std::string WithoutFirstDot(const std::string& path) {
  return path.starts_with('.') ? path.substr(1) : path;
}

std::string PlaceOf(const Json& root, const void* target) {
  const std::string path = WithoutFirstDot(PathBelow(root, target).value_or(""));
  return path.empty() ? "the document" : path;
}

std::string Complaint(absl::string_view place, const Json& found, absl::string_view allowed) {
  return absl::StrCat(place, " is ", Found(found), "; allowed: ", allowed);
}

// Builds a value from nlohmann's events and stops at the first thing that is refused.
class Builder {
 public:
  Builder(absl::string_view text, Json* root) : text_(text), root_(root) {}

  bool null() { return Add(nullptr) != nullptr; }
  bool boolean(bool value) { return Add(value) != nullptr; }
  bool number_integer(int64_t value) { return Add(value) != nullptr; }
  bool number_unsigned(uint64_t value) { return Add(value) != nullptr; }
  bool number_float(double value, const std::string&) { return Add(value) != nullptr; }
  bool string(std::string& value) { return Add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) { return false; }  // not in texts
  bool start_object(size_t) { return Open(Json::object()); }
  bool start_array(size_t) { return Open(Json::array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    auto& fields = open_.back()->get_ref<Json::object_t&>();
    const auto [place, is_new] = fields.try_emplace(std::move(name));
    field_ = &place->second;
    if (!is_new) {
      problem_ = absl::StrCat(PlaceOf(*root_, open_.back()), " holds the name ",
                              Found(Json(place->first)), " twice");
    }
    return is_new;
  }
  bool parse_error(size_t position, const std::string&, const Json::exception&) {
    const Json part(std::string(text_.substr(std::max<size_t>(position, 30) - 30, 54)));
    const std::string quoted = part.dump(-1, ' ', true, Json::error_handler_t::replace);
    problem_ = absl::StrCat(
        "broken JSON at byte ", position, ", in '",
        absl::StrReplaceAll(quoted.substr(1, quoted.size() - 2), {{"\\\"", "\""}}), "'");
    return false;
  }

  const std::string& problem() const { return problem_; }

 private:
  Json* Add(Json value) {
    if (open_.empty()) return &(*root_ = std::move(value));
    if (open_.back()->is_object()) return &(*field_ = std::move(value));
    return &open_.back()->emplace_back(std::move(value));
  }
  bool Open(Json empty) {
    if (open_.size() == kMaxJsonDepth) {
      problem_ = absl::StrCat("nested too deep: more than ", kMaxJsonDepth, " lists and objects");
      return false;
    }
    open_.push_back(Add(std::move(empty)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  absl::string_view text_;
  Json* root_;
  std::vector<Json*> open_;
  Json* field_ = nullptr;  // of the innermost object: the value that comes next
  std::string problem_;
};

// What is wrong with `text`; empty: `root` is all of it.
std::string ParseInto(absl::string_view text, Json* root) {
  Builder builder(text, root);
  const bool is_whole = Json::sax_parse(text.begin(), text.end(), &builder);
  return is_whole ? "" : builder.problem();
}

bool TakeSingle(const Json& json, const JsonLimits&, bool* out) {
  if (json.is_boolean()) *out = json.get<bool>();
  return json.is_boolean();
}

bool TakeSingle(const Json& json, const JsonLimits&, std::string* out) {
  if (json.is_string()) *out = json.get_ref<const std::string&>();
  return json.is_string();
}

template <std::integral T>
bool TakeSingle(const Json& json, const JsonLimits& limits, T* out) {
  const auto take = [&](auto value) {
    const bool is_low = std::cmp_less(value, limits.low);
    const bool is_high = limits.high != JsonLimits().high && std::cmp_greater(value, limits.high);
    if (is_low || is_high || !std::in_range<T>(value)) return false;
    *out = static_cast<T>(value);
    return true;
  };
  if (json.is_number_unsigned()) return take(json.get<uint64_t>());
  return json.is_number_integer() && take(json.get<int64_t>());
}

template <std::floating_point T>
bool TakeSingle(const Json& json, const JsonLimits& limits, T* out) {
  if (!json.is_number()) return false;
  double value = json.get<double>();
  if (std::fabs(value) > limits.largest) return false;
  if constexpr (std::same_as<T, float>) {
    if (std::fabs(value) >= kFloatLimit) return false;
    value = std::clamp(value, -kFloatMax, kFloatMax);
  }
  *out = static_cast<T>(value);
  return true;
}

template <typename T>
std::string AllowedSingle(const JsonLimits& limits) {
  constexpr JsonLimits kAny;
  if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::same_as<T, std::string>) {
    return "a text";
  } else if constexpr (std::floating_point<T>) {
    if (limits.largest != kAny.largest) {
      return absl::StrCat("a number, at most ", limits.largest, " in size");
    }
    return std::same_as<T, float> ? "a 32-bit number" : "a number";
  } else {
    constexpr T kMax = std::numeric_limits<T>::max();
    const int64_t low = std::max<int64_t>(limits.low, std::numeric_limits<T>::min());
    if (limits.high == low) return absl::StrCat(low);
    if (limits.high != kAny.high || sizeof(T) < sizeof(low)) {
      const int64_t high = std::cmp_less(limits.high, kMax) ? limits.high : kMax;
      return absl::StrCat("a whole number, ", low, " to ", high);
    }
    return low == kAny.low ? "a whole number" : absl::StrCat("a whole number of ", low, " or more");
  }
}

// Puts `json` into `out`, or returns the value that does not fit and says what is allowed there.
template <typename T>
const Json* Take(const Json& json, const JsonLimits& limits, T* out, std::string* allowed) {
  if constexpr (requires { out->reset(); }) {
    if (json.is_null()) return out->reset(), nullptr;
    const Json* misfit = Take(json, limits, &out->emplace(), allowed);
    if (misfit == &json) absl::StrAppend(allowed, " or null");
    return misfit;
  } else if constexpr (requires { out->emplace_back(); }) {
    if (!json.is_array() || (limits.size >= 0 && std::cmp_not_equal(json.size(), limits.size))) {
      *allowed = limits.size < 0 ? "a list" : absl::StrCat("a list of ", limits.size, " entries");
      return &json;
    }
    JsonLimits each = limits;
    each.size = -1;
    out->clear();
    out->reserve(json.size());
    for (const Json& entry : json) {
      const Json* misfit = Take(entry, each, &out->emplace_back(), allowed);
      if (misfit != nullptr) return misfit;
    }
    return nullptr;
  } else {
    if (TakeSingle(json, limits, out)) return nullptr;
    *allowed = AllowedSingle<T>(limits);
    return &json;
  }
}

}  // namespace

struct JsonReader::Document {
  JsonSource source;
  Json root;
  absl::Status status;
};

absl::StatusOr<JsonReader> JsonReader::Parse(absl::string_view text, JsonSource source) {
  auto document = std::make_shared<Document>();
  document->source = std::move(source);
  Json& root = document->root;
  const JsonReader reader(document, &root);
  const std::string problem = ParseInto(text, &root);
  if (!problem.empty()) return reader.Fail(problem);
  if (!root.is_object()) return reader.Fail(Complaint("the document", root, "an object"));
  return reader;
}

bool JsonReader::Has(absl::string_view key) const {
  const Json& found = Find(object_, key);
  return !found.is_discarded() && !found.is_null();
}

std::vector<std::string> JsonReader::Names() const {
  std::vector<std::string> names;
  for (const auto& item : static_cast<const Json*>(object_)->items()) names.push_back(item.key());
  return names;
}

template <typename T>
void JsonReader::Read(absl::string_view key, T* out, const JsonLimits& limits) const {
  std::string allowed;
  const Json& found = Find(object_, key);
  const Json* misfit = Take(found, limits, out, &allowed);
  if (misfit == nullptr || !document_->status.ok()) return;
  Fail(Complaint(misfit->is_discarded() ? Place(key) : PlaceOf(document_->root, misfit), *misfit,
                 absl::StrCat(allowed, misfit == &found ? limits.note : "")));
}

template void JsonReader::Read(absl::string_view, bool*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, int32_t*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, int64_t*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, uint64_t*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, float*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, double*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::string*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::optional<int64_t>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::optional<double>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<int32_t>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<int64_t>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<float>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<double>*, const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<std::string>*,
                               const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<std::optional<double>>*,
                               const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::optional<std::vector<double>>*,
                               const JsonLimits&) const;
template void JsonReader::Read(absl::string_view, std::vector<std::vector<int32_t>>*,
                               const JsonLimits&) const;

void JsonReader::ReadAsText(absl::string_view key, std::string* out) const {
  const Json& found = Find(object_, key);
  if (found.is_structured() || found.is_discarded()) {
    Wrong(key, "a single value");
  } else {
    *out = found.is_string() ? found.get<std::string>()
                             : found.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

JsonReader JsonReader::Object(absl::string_view key) const {
  const Json& found = Find(object_, key);
  if (found.is_object()) return {document_, &found};
  static const Json kEmpty = Json::object();
  Wrong(key, "an object");
  return {document_, &kEmpty};
}

std::vector<JsonReader> JsonReader::Objects(absl::string_view key) const {
  std::vector<JsonReader> objects;
  const Json& found = Find(object_, key);
  if (!found.is_array()) {
    Wrong(key, "a list of objects");
    return objects;
  }
  for (const Json& entry : found) {
    if (!entry.is_object()) {
      Fail(Complaint(PlaceOf(document_->root, &entry), entry, "an object"));
      return {};
    }
    objects.push_back({document_, &entry});
  }
  return objects;
}

const absl::Status& JsonReader::Wrong(absl::string_view key, absl::string_view allowed) const {
  return Fail(Complaint(Place(key), Find(object_, key), allowed));
}

const absl::Status& JsonReader::Fail(absl::string_view what) const {
  const JsonSource& source = document_->source;
  if (document_->status.ok()) {
    document_->status = absl::Status(source.code, absl::StrCat(source.name, ": ", what));
  }
  return document_->status;
}

std::string JsonReader::Place(absl::string_view key) const {
  return WithoutFirstDot(
      absl::StrCat(PathBelow(document_->root, object_).value_or(""), KeyStep(std::string(key))));
}

const absl::Status& JsonReader::status() const { return document_->status; }

bool IsJson(absl::string_view text) {
  Json root;
  return ParseInto(text, &root).empty();
}

}  // namespace lzero
