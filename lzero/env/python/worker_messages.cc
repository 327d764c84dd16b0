#include "lzero/env/python/worker_messages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/config/scalar_text.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxObservation = int64_t{1} << 26;  // elements
constexpr int64_t kMaxActions = 1 << 16;

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
  const bool is_json = (text[0] == '[' || text[0] == '{' || text[0] == '"') && IsJson(text);
  return is_json ? Json::parse(text) : Json(text);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Beyond float32 a number is infinite; the cast alone would not be defined.
float ToFloat(double value) {
  if (std::abs(value) <= std::numeric_limits<float>::max()) return static_cast<float>(value);
  return value < 0.0 ? -kInfinity : kInfinity;
}

// A bound of an action that was rounded outwards becomes the next number inside.
float Inwards(float rounded, const std::optional<double>& exact, float inside) {
  if (!exact.has_value() || std::isinf(rounded)) return rounded;
  const double difference = static_cast<double>(rounded) - *exact;
  return difference != 0.0 && (difference < 0.0) == (inside > 0.0f)
             ? std::nextafter(rounded, inside)
             : rounded;
}

// Reads "low" and "high" into `spec`, infinite where nothing bounds. An observation may have one
// bound for all `size` numbers; bounds of an action are rounded inwards.
template <typename Spec>
void ReadBounds(const JsonReader& json, size_t size, bool is_action, Spec& spec) {
  std::vector<std::optional<double>> exact[2];
  std::vector<float>* const sides[] = {&spec.low, &spec.high};
  for (const int side : {0, 1}) {
    const char* const key = side == 0 ? "low" : "high";
    json.Read(key, &exact[side]);
    if (exact[side].size() != size && (is_action || exact[side].size() != 1)) {
      json.Wrong(key, absl::StrCat("a list of ", size, " bounds", is_action ? "" : ", or of 1"));
    }
    const double none = side == 0 ? -kInfinity : kInfinity;
    for (const auto& bound : exact[side]) sides[side]->push_back(ToFloat(bound.value_or(none)));
  }
  if (!json.status().ok()) return;
  // One bound for all on one side only: both sides have the same number of them.
  const size_t count = std::max(spec.low.size(), spec.high.size());
  for (std::vector<float>* side : sides) side->resize(count, side->front());
  for (size_t i = 0; i < count; ++i) {
    if (spec.low[i] > spec.high[i] || spec.low[i] == kInfinity || spec.high[i] == -kInfinity) {
      json.Wrong("low", "bounds that are not above 'high'");
    }
    if (!is_action) continue;
    const float low = Inwards(spec.low[i], exact[0][i], kInfinity);
    const float high = Inwards(spec.high[i], exact[1][i], -kInfinity);
    if (low > high) continue;  // nothing is between them: the nearest has to do
    spec.low[i] = low;
    spec.high[i] = high;
  }
}

ObservationSpec ReadObservation(const JsonReader& json) {
  ObservationSpec spec;
  std::string type;
  json.Read("type", &type);
  if (type != "uint8" && type != "float32") json.Wrong("type", "uint8, float32");
  spec.type = type == "uint8" ? ObservationType::kUint8 : ObservationType::kFloat32;
  json.Read("shape", &spec.shape, {.low = 1, .high = kMaxObservation});
  if (spec.shape.empty() || spec.shape.size() > 8) json.Wrong("shape", "a list of 1 to 8 lengths");
  int64_t size = 1;
  for (size_t i = 0; i < spec.shape.size() && size <= kMaxObservation; ++i) size *= spec.shape[i];
  if (size > kMaxObservation) {
    json.Wrong("shape", absl::StrCat("at most ", kMaxObservation, " numbers in all"));
  }
  json.MaybeRead("parts", &spec.parts);
  for (std::string& part : spec.parts) part = EscapedForMessage(part, "");
  if (!json.status().ok()) return spec;
  ReadBounds(json, static_cast<size_t>(size), false, spec);
  return spec;
}

ActionSpec ReadAction(const JsonReader& json) {
  ActionSpec spec;
  std::string kind;
  int32_t size = 0;
  json.Read("kind", &kind);
  json.Read("size", &size, {.low = 1, .high = kMaxActions});
  if (kind == "discrete") {
    spec.num_actions = size;
    json.MaybeRead("meaning", &spec.meaning);
    spec.meaning = EscapedForMessage(spec.meaning, "");
    return spec;
  }
  if (kind != "box") json.Wrong("kind", "discrete, box");
  spec.kind = ActionKind::kBox;
  ReadBounds(json, static_cast<size_t>(size), true, spec);
  return spec;
}

absl::StatusOr<JsonReader> Parse(absl::string_view text, WorkerRefusal* refusal) {
  LZ_ASSIGN_OR_RETURN(
      const JsonReader json,
      JsonReader::Parse(text, {"answer of the worker process", absl::StatusCode::kInternal}));
  bool ok = false;
  WorkerRefusal told;
  json.Read("ok", &ok);
  json.MaybeRead("error", &told.error);
  json.MaybeRead("missing", &told.missing_package);
  json.MaybeRead("traceback", &told.traceback);
  LZ_RETURN_IF_ERROR(json.status());
  if (ok) return json;
  for (std::string* said : {&told.error, &told.traceback}) *said = EscapedForMessage(*said);
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
               {"observation", task.observation},
               {"wrappers", task.wrappers},
               {"python_path", task.python_path},
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
  LZ_ASSIGN_OR_RETURN(const JsonReader json, Parse(text, refusal));
  int32_t version = 0;
  json.Read("version", &version,
            {.low = kWorkerProtocolVersion,
             .high = kWorkerProtocolVersion,
             .note = ", the version of the protocol here"});
  const JsonReader object = json.Object("spec");
  WorkerSpec spec;
  spec.observation = ReadObservation(object.Object("observation"));
  spec.action = ReadAction(object.Object("action"));
  object.Read("max_episode_steps", &spec.max_episode_steps, {.low = 0, .high = int64_t{1} << 40});
  int64_t mask_size = 0;
  object.Read("mask_size", &mask_size, {.low = 0, .high = kMaxActions});
  if (mask_size != 0 && mask_size != spec.action.num_actions) {
    object.Wrong("mask_size", absl::StrCat("0 or the ", spec.action.num_actions, " actions"));
  }
  spec.has_action_mask = mask_size > 0;
  object.MaybeRead("has_lives", &spec.has_lives);
  object.MaybeRead("draws_text", &spec.draws_text);
  LZ_RETURN_IF_ERROR(json.status());
  return spec;
}

absl::StatusOr<std::string> ReadTraceback(absl::string_view text) {
  LZ_ASSIGN_OR_RETURN(const JsonReader json, Parse(text, nullptr));
  std::string traceback;
  json.MaybeRead("traceback", &traceback);
  return EscapedForMessage(traceback);
}

absl::StatusOr<std::string> ReadDrawnText(absl::string_view text) {
  LZ_ASSIGN_OR_RETURN(const JsonReader json, Parse(text, nullptr));
  std::string drawn;
  json.Read("text", &drawn);
  LZ_RETURN_IF_ERROR(json.status());
  return EscapedForMessage(drawn);
}

absl::StatusOr<Image> ReadBlankPicture(absl::string_view text) {
  LZ_ASSIGN_OR_RETURN(const JsonReader json, Parse(text, nullptr));
  int width = 0, height = 0;
  int64_t num_bytes = 0;
  json.Read("width", &width, {.low = 1, .high = 1 << 14});
  json.Read("height", &height, {.low = 1, .high = 1 << 14});
  json.Read("bytes", &num_bytes, {.low = 1, .high = kMaxWorkerPicture});
  const int64_t expected = int64_t{3} * width * height;
  if (num_bytes != expected) json.Wrong("bytes", absl::StrCat(expected, " = width * height * 3"));
  LZ_RETURN_IF_ERROR(json.status());
  return Image(width, height);
}

}  // namespace lzero
