#include "lzero/env/python/worker_messages.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/json_depth.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxObservation = int64_t{1} << 26;  // elements
constexpr int64_t kMaxActions = 1 << 16;

absl::Status NoAnswer(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the worker process answers ", what));
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As a user would write it in YAML or in Python: true, True, yes, null, None, 3, 0.5, a list, map
// or quoted text as in JSON, else a text.
Json Value(const std::string& text) {
  const std::string word = absl::AsciiStrToLower(text);
  if (word == "null" || word == "none" || word == "~") return nullptr;
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  if (const auto integer = ParseInt(text); integer.ok()) return *integer;
  if (const auto number = ParseFloat(text); number.ok()) return *number;
  if ((text[0] == '[' || text[0] == '{' || text[0] == '"') && !IsDeeperThan(text, kMaxJsonDepth)) {
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_discarded()) return json;
  }
  return text;
}

const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string TextAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

absl::StatusOr<int64_t> IntegerAt(const Json& object, const char* key, int64_t low, int64_t high) {
  const Json& value = At(object, key);
  if (value.is_number_integer() &&
      !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(high))) {
    const int64_t integer = value.get<int64_t>();
    if (integer >= low && integer <= high) return integer;
  }
  return NoAnswer(
      absl::StrCat("'", key, "': ", Dump(value).substr(0, 60), "; allowed: ", low, " .. ", high));
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Beyond float32 a number is infinite; the cast alone would not be defined.
float ToFloat(double value) {
  if (std::abs(value) <= std::numeric_limits<float>::max()) return static_cast<float>(value);
  return value < 0.0 ? -kInfinity : kInfinity;
}

// Bounds: null is none; one number stands for all `size` where `one_for_all`.
absl::StatusOr<std::vector<float>> BoundsAt(const Json& object, const char* key, int64_t size,
                                            bool one_for_all, float none) {
  const Json& list = At(object, key);
  const bool fits = list.is_array() && (static_cast<int64_t>(list.size()) == size ||
                                        (one_for_all && list.size() == 1));
  if (!fits) return NoAnswer(absl::StrCat("no list '", key, "' of ", size, " bounds"));
  std::vector<float> bounds;
  for (const Json& value : list) {
    if (!value.is_null() && !value.is_number()) {
      return NoAnswer(absl::StrCat("'", key, "' with ", Dump(value).substr(0, 60)));
    }
    bounds.push_back(value.is_null() ? none : ToFloat(value.get<double>()));
  }
  return bounds;
}

// A bound of an action that was rounded outwards becomes the next number inside.
float Inwards(float rounded, const Json& exact, float inside) {
  if (exact.is_null() || std::isinf(rounded)) return rounded;
  const double difference = static_cast<double>(rounded) - exact.get<double>();
  return difference != 0.0 && (difference < 0.0) == (inside > 0.0f)
             ? std::nextafter(rounded, inside)
             : rounded;
}

absl::Status CheckOrder(const std::vector<float>& low, const std::vector<float>& high,
                        const char* what) {
  for (size_t i = 0; i < low.size() && i < high.size(); ++i) {
    if (low[i] > high[i] || low[i] == kInfinity || high[i] == -kInfinity)
      return NoAnswer(absl::StrCat(what, " bounds in the wrong order"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ObservationSpec> ReadObservation(const Json& object) {
  ObservationSpec spec;
  const std::string type = TextAt(object, "type");
  if (type != "uint8" && type != "float32") {
    return NoAnswer(absl::StrCat("observations of type '", type.substr(0, 40), "'"));
  }
  spec.type = type == "uint8" ? ObservationType::kUint8 : ObservationType::kFloat32;
  const Json& shape = At(object, "shape");
  if (!shape.is_array() || shape.empty() || shape.size() > 8) {
    return NoAnswer("observations without a shape");
  }
  int64_t size = 1;
  for (const Json& length : shape) {
    const Json holder = {{"length", length}};
    LZ_ASSIGN_OR_RETURN(const int64_t axis, IntegerAt(holder, "length", 1, kMaxObservation));
    spec.shape.push_back(axis);
    size *= axis;
    if (size > kMaxObservation) return NoAnswer("observations that are too large");
  }
  LZ_ASSIGN_OR_RETURN(spec.low, BoundsAt(object, "low", size, true, -kInfinity));
  LZ_ASSIGN_OR_RETURN(spec.high, BoundsAt(object, "high", size, true, kInfinity));
  // One bound for all on one side only: both sides have the same number of them.
  if (spec.low.size() != spec.high.size()) {
    if (spec.low.size() == 1) spec.low.resize(spec.high.size(), spec.low[0]);
    if (spec.high.size() == 1) spec.high.resize(spec.low.size(), spec.high[0]);
  }
  LZ_RETURN_IF_ERROR(CheckOrder(spec.low, spec.high, "observation"));
  return spec;
}

absl::StatusOr<ActionSpec> ReadAction(const Json& object) {
  ActionSpec spec;
  const std::string kind = TextAt(object, "kind");
  LZ_ASSIGN_OR_RETURN(const int64_t size, IntegerAt(object, "size", 1, kMaxActions));
  if (kind == "discrete") {
    spec.num_actions = static_cast<int>(size);
    return spec;
  }
  if (kind != "box") return NoAnswer(absl::StrCat("actions of kind '", kind.substr(0, 40), "'"));
  spec.kind = ActionKind::kBox;
  LZ_ASSIGN_OR_RETURN(spec.low, BoundsAt(object, "low", size, false, -kInfinity));
  LZ_ASSIGN_OR_RETURN(spec.high, BoundsAt(object, "high", size, false, kInfinity));
  LZ_RETURN_IF_ERROR(CheckOrder(spec.low, spec.high, "action"));
  for (size_t i = 0; i < spec.low.size(); ++i) {
    const float low = Inwards(spec.low[i], At(object, "low")[i], kInfinity);
    const float high = Inwards(spec.high[i], At(object, "high")[i], -kInfinity);
    if (low > high) continue;  // nothing is between them: the nearest has to do
    spec.low[i] = low;
    spec.high[i] = high;
  }
  return spec;
}

absl::StatusOr<Json> Parse(absl::string_view text, WorkerRefusal* refusal) {
  if (IsDeeperThan(text, kMaxJsonDepth)) return NoAnswer("JSON that is nested too deep");
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !At(json, "ok").is_boolean()) {
    return NoAnswer(absl::StrCat("no JSON: ", QuotedForMessage(text)));
  }
  if (At(json, "ok").get<bool>()) return json;
  WorkerRefusal told = {TextAt(json, "error"), TextAt(json, "missing"), TextAt(json, "traceback")};
  const std::string error = told.error.empty() ? "it refused" : told.error;
  const bool is_missing = !told.missing_package.empty();
  if (refusal != nullptr) *refusal = std::move(told);
  return is_missing ? absl::FailedPreconditionError(error) : absl::InvalidArgumentError(error);
}

}  // namespace

std::string MakeText(const WorkerTask& task, int num_envs) {
  Json settings = Json::object();
  for (const auto& [name, text] : task.settings) settings[name] = Value(text);
  return Dump({{"op", "make"},
               {"kind", task.kind},
               {"id", task.id},
               {"settings", settings},
               {"keeps_pixels", task.keeps_pixels},
               {"num_envs", num_envs}});
}

std::string AttachText(const WorkerLayout& layout) {
  Json fields = {{"num_slots", layout.sizes.num_slots},
                 {"frames", layout.sizes.num_frames},
                 {"max_repeat", layout.sizes.max_repeat}};
  for (const WorkerField& field : layout.fields) {
    fields[field.name] = {{"offset", field.offset}, {"bytes", field.num_bytes}};
  }
  return Dump({{"op", "attach"},
               {"magic", kWorkerMagic},
               {"bytes", layout.num_bytes},
               {"buffers", {layout.buffer_starts[0], layout.buffer_starts[1]}},
               {"layout", fields}});
}

std::string VerbText(absl::string_view verb, int slot) {
  Json message = {{"op", std::string(verb)}};
  if (slot >= 0) message["slot"] = slot;
  return Dump(message);
}

absl::Status ReadAnswer(absl::string_view text, WorkerRefusal* refusal) {
  return Parse(text, refusal).status();
}

absl::StatusOr<WorkerSpec> ReadSpec(absl::string_view text, WorkerRefusal* refusal) {
  LZ_ASSIGN_OR_RETURN(const Json json, Parse(text, refusal));
  const auto version = IntegerAt(json, "version", 0, 1 << 30);
  if (!version.ok() || *version != kWorkerProtocolVersion) {
    return NoAnswer(absl::StrCat("protocol version ", Dump(At(json, "version")).substr(0, 40),
                                 "; this is version ", kWorkerProtocolVersion));
  }
  const Json& object = At(json, "spec");
  WorkerSpec spec;
  LZ_ASSIGN_OR_RETURN(spec.observation, ReadObservation(At(object, "observation")));
  LZ_ASSIGN_OR_RETURN(spec.action, ReadAction(At(object, "action")));
  LZ_ASSIGN_OR_RETURN(spec.max_episode_steps,
                      IntegerAt(object, "max_episode_steps", 0, int64_t{1} << 40));
  LZ_ASSIGN_OR_RETURN(const int64_t mask_size, IntegerAt(object, "mask_size", 0, kMaxActions));
  if (mask_size != 0 && mask_size != spec.action.num_actions) {
    return NoAnswer(
        absl::StrCat("masks of ", mask_size, " for ", spec.action.num_actions, " actions"));
  }
  spec.has_action_mask = mask_size > 0;
  spec.has_lives = At(object, "has_lives").is_boolean() && At(object, "has_lives").get<bool>();
  return spec;
}

absl::StatusOr<std::string> ReadTraceback(absl::string_view text) {
  LZ_ASSIGN_OR_RETURN(const Json json, Parse(text, nullptr));
  return TextAt(json, "traceback");
}

absl::StatusOr<PictureSize> ReadPictureSize(absl::string_view text) {
  LZ_ASSIGN_OR_RETURN(const Json json, Parse(text, nullptr));
  LZ_ASSIGN_OR_RETURN(const int64_t width, IntegerAt(json, "width", 1, 1 << 14));
  LZ_ASSIGN_OR_RETURN(const int64_t height, IntegerAt(json, "height", 1, 1 << 14));
  const int64_t num_bytes = width * height * 3;
  if (num_bytes > kMaxWorkerPicture) return NoAnswer("a picture that is too large");
  LZ_RETURN_IF_ERROR(IntegerAt(json, "bytes", num_bytes, num_bytes).status());
  return PictureSize{static_cast<int>(width), static_cast<int>(height)};
}

}  // namespace lzero
