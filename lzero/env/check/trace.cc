#include "lzero/env/check/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/json_depth.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr double kFloatMax = std::numeric_limits<float>::max();
// Doubles from here on round to an infinite float; 3.4028235e+38, as kFloatMax is written, stays.
constexpr double kFloatLimit = 0x1.ffffffp127;

template <typename T>
std::string ExactNumberOf(T value) {
  std::array<char, 40> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end);
  // "-0" without a point would be read back as the integer 0.
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::string NumberList(const std::vector<T>& values) {
  const auto append = [](std::string* out, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      absl::StrAppend(out, ExactNumber(value));
    } else {
      absl::StrAppend(out, value);
    }
  };
  return absl::StrCat("[", absl::StrJoin(values, ",", append), "]");
}

std::string OptionalList(const std::optional<std::vector<double>>& values) {
  return values.has_value() ? NumberList(*values) : "null";
}

// One line's object, read field by field; every error says which field, what it is, what it may be.
class LineReader {
 public:
  LineReader(const Json& object, int line) : object_(object), line_(line) {}

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
  }

  // The field, or null when it is missing.
  const Json& At(const char* key) const {
    static const Json kNull;
    const auto found = object_.find(key);
    return found == object_.end() ? kNull : *found;
  }

  absl::Status Wrong(const char* key, absl::string_view allowed) const {
    const Json& value = At(key);
    if (value.is_null()) return Error(absl::StrCat("'", key, "' is missing; it is ", allowed));
    std::string given = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (given.size() > 60) given = given.substr(0, 57) + "...";
    return Error(absl::StrCat("'", key, "' is ", given, "; it is ", allowed));
  }

  // Lives as long as the object.
  absl::StatusOr<absl::string_view> Text(const char* key) const {
    if (!At(key).is_string()) return Wrong(key, "a text");
    return absl::string_view(At(key).get_ref<const std::string&>());
  }

  absl::StatusOr<bool> Flag(const char* key) const {
    if (!At(key).is_boolean()) return Wrong(key, "true or false");
    return At(key).get<bool>();
  }

  absl::StatusOr<double> Number(const char* key) const {
    if (!At(key).is_number()) return Wrong(key, "a number");
    return At(key).get<double>();
  }

  absl::StatusOr<uint64_t> Unsigned(const char* key) const {
    if (!At(key).is_number_unsigned()) return Wrong(key, "an integer of 0 or more");
    return At(key).get<uint64_t>();
  }

  absl::StatusOr<int64_t> Count(const char* key) const {
    const absl::StatusOr<uint64_t> value = Unsigned(key);
    if (!value.ok() || *value > std::numeric_limits<int64_t>::max()) {
      return Wrong(key, "an integer of 0 or more");
    }
    return static_cast<int64_t>(*value);
  }

  absl::StatusOr<std::vector<double>> Doubles(const char* key) const {
    const absl::string_view allowed = "a list of numbers";
    if (!At(key).is_array()) return Wrong(key, allowed);
    std::vector<double> values;
    for (const Json& value : At(key)) {
      if (!value.is_number()) return Wrong(key, allowed);
      values.push_back(value.get<double>());
    }
    return values;
  }

  absl::StatusOr<std::vector<float>> Floats(const char* key) const {
    LZ_ASSIGN_OR_RETURN(const std::vector<double> values, Doubles(key));
    std::vector<float> floats;
    for (const double value : values) {
      if (!(std::fabs(value) < kFloatLimit)) return Wrong(key, "a list of 32-bit numbers");
      floats.push_back(static_cast<float>(std::clamp(value, -kFloatMax, kFloatMax)));
    }
    return floats;
  }

  absl::StatusOr<std::vector<int32_t>> Integers(const char* key) const {
    std::vector<int32_t> values;
    if (!ReadIntegers(At(key), values)) return Wrong(key, "a list of integers of 0 or more");
    return values;
  }

  absl::StatusOr<std::vector<std::vector<int32_t>>> IntegerLists(const char* key) const {
    const absl::string_view allowed = "a list of lists of integers of 0 or more";
    if (!At(key).is_array()) return Wrong(key, allowed);
    std::vector<std::vector<int32_t>> lists;
    for (const Json& value : At(key)) {
      if (!ReadIntegers(value, lists.emplace_back())) return Wrong(key, allowed);
    }
    return lists;
  }

  // Nothing when the field is missing; single values are kept as they are written.
  absl::StatusOr<EnvSettingTexts> Settings(const char* key) const {
    EnvSettingTexts texts;
    if (At(key).is_null()) return texts;
    if (!At(key).is_object()) return Wrong(key, "an object of single values");
    for (const auto& [name, value] : At(key).items()) {
      if (value.is_structured()) return Wrong(key, "an object of single values");
      texts[name] = value.is_string() ? value.get<std::string>()
                                      : value.dump(-1, ' ', true, Json::error_handler_t::replace);
    }
    return texts;
  }

  absl::StatusOr<std::optional<std::vector<double>>> State() const {
    if (At("state").is_null()) return std::optional<std::vector<double>>();
    LZ_ASSIGN_OR_RETURN(std::vector<double> values, Doubles("state"));
    return std::optional<std::vector<double>>(std::move(values));
  }

  static bool FitsInt32(const Json& value) {
    return value.is_number_unsigned() &&
           value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
  }

 private:
  static bool ReadIntegers(const Json& array, std::vector<int32_t>& values) {
    if (!array.is_array()) return false;
    for (const Json& value : array) {
      if (!FitsInt32(value)) return false;
      values.push_back(value.get<int32_t>());
    }
    return true;
  }

  const Json& object_;
  int line_;
};

absl::StatusOr<TraceMeta> ReadMeta(const LineReader& line) {
  TraceMeta meta;
  LZ_ASSIGN_OR_RETURN(const absl::string_view env, line.Text("env"));
  meta.env = std::string(env);
  if (!line.At("max_episode_steps").is_null()) {
    LZ_ASSIGN_OR_RETURN(meta.max_episode_steps, line.Count("max_episode_steps"));
  }
  if (!line.At("random_opening_fraction").is_null()) {
    LZ_ASSIGN_OR_RETURN(meta.random_opening_fraction, line.Number("random_opening_fraction"));
    LZ_ASSIGN_OR_RETURN(meta.random_opening_plies, line.Count("random_opening_plies"));
  }
  LZ_ASSIGN_OR_RETURN(meta.settings, line.Settings("settings"));
  const Json& action = line.At("action");
  if (action.is_null() || action == "discrete") return meta;
  if (action != "box") return line.Wrong("action", "\"discrete\" or \"box\"");
  meta.action = ActionKind::kBox;
  return meta;
}

absl::StatusOr<TraceEpisode> ReadReset(const LineReader& line) {
  TraceEpisode episode;
  LZ_ASSIGN_OR_RETURN(episode.episode, line.Count("episode"));
  LZ_ASSIGN_OR_RETURN(episode.seed, line.Unsigned("seed"));
  LZ_ASSIGN_OR_RETURN(episode.state, line.State());
  LZ_ASSIGN_OR_RETURN(episode.observation, line.Floats("obs"));
  return episode;
}

absl::StatusOr<Action> ReadAction(const LineReader& line, ActionKind kind) {
  Action action;
  if (kind == ActionKind::kBox) {
    LZ_ASSIGN_OR_RETURN(action.values, line.Floats("action"));
    return action;
  }
  const Json& value = line.At("action");
  if (!LineReader::FitsInt32(value)) {
    return line.Wrong("action", "an integer of 0 or more (the meta line says discrete)");
  }
  action.index = value.get<int32_t>();
  return action;
}

absl::StatusOr<TraceStep> ReadStep(const LineReader& line, ActionKind kind, int64_t expected_t) {
  TraceStep step;
  LZ_ASSIGN_OR_RETURN(const int64_t t, line.Count("t"));
  if (t != expected_t) return line.Wrong("t", absl::StrCat(expected_t, " here"));
  LZ_ASSIGN_OR_RETURN(step.action, ReadAction(line, kind));
  LZ_ASSIGN_OR_RETURN(step.observation, line.Floats("obs"));
  LZ_ASSIGN_OR_RETURN(step.reward, line.Number("reward"));
  LZ_ASSIGN_OR_RETURN(step.terminated, line.Flag("terminated"));
  LZ_ASSIGN_OR_RETURN(step.truncated, line.Flag("truncated"));
  LZ_ASSIGN_OR_RETURN(step.state, line.State());
  if (line.At("chance").is_null()) return step;
  if (!LineReader::FitsInt32(line.At("chance"))) return line.Wrong("chance", "an outcome or null");
  step.chance_outcome = line.At("chance").get<int32_t>();
  return step;
}

absl::StatusOr<TraceGame> ReadGame(const LineReader& line) {
  TraceGame game;
  LZ_ASSIGN_OR_RETURN(game.moves, line.Integers("moves"));
  LZ_ASSIGN_OR_RETURN(game.legal_counts, line.Integers("legal_counts"));
  if (game.legal_counts.size() != game.moves.size()) {
    return line.Error(absl::StrCat("'legal_counts' has ", game.legal_counts.size(), " numbers for ",
                                   game.moves.size(), " moves; one for each"));
  }
  if (!line.At("legal_changes").is_null()) {
    LZ_ASSIGN_OR_RETURN(game.legal_changes, line.IntegerLists("legal_changes"));
    if (game.legal_changes.size() != game.moves.size()) {
      return line.Error(absl::StrCat("'legal_changes' has ", game.legal_changes.size(),
                                     " lists for ", game.moves.size(), " moves; one for each"));
    }
  }
  if (line.At("returns").is_null()) return game;
  LZ_ASSIGN_OR_RETURN(game.returns, line.Doubles("returns"));
  if (game.returns.size() != 2) return line.Wrong("returns", "a list of 2 numbers or null");
  return game;
}

absl::Status AddStep(const LineReader& line, int line_number, Trace& trace) {
  if (trace.episodes.empty()) return line.Error("a step before the first reset");
  TraceEpisode& episode = trace.episodes.back();
  if (!episode.steps.empty() &&
      (episode.steps.back().terminated || episode.steps.back().truncated)) {
    return line.Error(absl::StrCat("a step after the end of episode ", episode.episode));
  }
  const int64_t expected_t = static_cast<int64_t>(episode.steps.size());
  LZ_ASSIGN_OR_RETURN(TraceStep step, ReadStep(line, trace.meta.action, expected_t));
  step.line = line_number;
  episode.steps.push_back(std::move(step));
  return absl::OkStatus();
}

absl::Status AddLine(const Json& object, int line_number, bool& has_meta, Trace& trace) {
  const LineReader line(object, line_number);
  LZ_ASSIGN_OR_RETURN(const absl::string_view type, line.Text("type"));
  if (has_meta == (type == "meta")) {
    return line.Error(has_meta ? "a second meta line"
                               : absl::StrCat("the first line must be of type \"meta\", got \"",
                                              type.substr(0, 40), "\""));
  }
  if (type == "meta") {
    LZ_ASSIGN_OR_RETURN(trace.meta, ReadMeta(line));
    has_meta = true;
  } else if (type == "reset") {
    LZ_ASSIGN_OR_RETURN(TraceEpisode episode, ReadReset(line));
    episode.line = line_number;
    trace.episodes.push_back(std::move(episode));
  } else if (type == "step") {
    return AddStep(line, line_number, trace);
  } else if (type == "game") {
    LZ_ASSIGN_OR_RETURN(TraceGame game, ReadGame(line));
    game.line = line_number;
    trace.games.push_back(std::move(game));
  } else {
    return line.Wrong("type", "\"meta\", \"reset\", \"step\" or \"game\"");
  }
  return absl::OkStatus();
}

}  // namespace

std::string ExactNumber(double value) { return ExactNumberOf(value); }

std::string ExactNumber(float value) {
  const std::string text = ExactNumberOf(value);
  // JSON readers go through double, and rounding twice can miss: then the double is written.
  double read = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  const bool exact = std::fabs(read) <= kFloatMax && static_cast<float>(read) == value;
  return exact ? text : ExactNumberOf(static_cast<double>(value));
}

std::string TraceMetaLine(const TraceMeta& meta) {
  const std::string settings =
      meta.settings.empty()
          ? ""
          : absl::StrCat(R"(,"settings":)",
                         Json(meta.settings).dump(-1, ' ', true, Json::error_handler_t::replace));
  std::string openings;
  if (meta.random_opening_fraction > 0.0) {
    openings =
        absl::StrCat(R"(,"random_opening_fraction":)", ExactNumber(meta.random_opening_fraction),
                     R"(,"random_opening_plies":)", meta.random_opening_plies);
  }
  return absl::StrCat(R"({"type":"meta","env":)",
                      Json(meta.env).dump(-1, ' ', true, Json::error_handler_t::replace),
                      R"(,"max_episode_steps":)", meta.max_episode_steps, openings, settings,
                      R"(,"action":")", meta.action == ActionKind::kBox ? "box" : "discrete",
                      "\"}\n");
}

std::string TraceResetLine(const TraceEpisode& episode) {
  return absl::StrCat(R"({"type":"reset","episode":)", episode.episode, R"(,"seed":)", episode.seed,
                      R"(,"state":)", OptionalList(episode.state), R"(,"obs":)",
                      NumberList(episode.observation), "}\n");
}

std::string TraceStepLine(int64_t t, const TraceStep& step, ActionKind kind) {
  const std::string action =
      kind == ActionKind::kBox ? NumberList(step.action.values) : absl::StrCat(step.action.index);
  return absl::StrCat(
      absl::StrCat(R"({"type":"step","t":)", t, R"(,"action":)", action, R"(,"obs":)",
                   NumberList(step.observation)),
      R"(,"reward":)", ExactNumber(step.reward), R"(,"terminated":)",
      step.terminated ? "true" : "false", R"(,"truncated":)", step.truncated ? "true" : "false",
      R"(,"state":)", OptionalList(step.state),
      step.chance_outcome < 0 ? "" : absl::StrCat(R"(,"chance":)", step.chance_outcome), "}\n");
}

std::string TraceGameLine(const TraceGame& game) {
  std::string changes;
  for (const std::vector<int32_t>& actions : game.legal_changes) {
    absl::StrAppend(&changes, changes.empty() ? "" : ",", NumberList(actions));
  }
  return absl::StrCat(R"({"type":"game","moves":)", NumberList(game.moves), R"(,"legal_counts":)",
                      NumberList(game.legal_counts),
                      changes.empty() ? "" : absl::StrCat(R"(,"legal_changes":[)", changes, "]"),
                      R"(,"returns":)", game.returns.empty() ? "null" : NumberList(game.returns),
                      "}\n");
}

std::string TraceText(const Trace& trace) {
  std::string text = TraceMetaLine(trace.meta);
  for (const TraceEpisode& episode : trace.episodes) {
    text += TraceResetLine(episode);
    int64_t t = 0;
    for (const TraceStep& step : episode.steps) text += TraceStepLine(t++, step, trace.meta.action);
  }
  for (const TraceGame& game : trace.games) text += TraceGameLine(game);
  return text;
}

absl::StatusOr<Trace> ParseTrace(absl::string_view text) {
  Trace trace;
  bool has_meta = false;
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const size_t end = std::min(text.find('\n'), text.size());
    const absl::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    if (IsDeeperThan(line, kMaxJsonDepth)) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": nested too deep; a trace has lists of numbers"));
    }
    const Json object = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": not a JSON object (",
                       object.is_discarded() ? "broken JSON" : object.type_name(),
                       "); a trace has one object a line"));
    }
    LZ_RETURN_IF_ERROR(AddLine(object, line_number, has_meta, trace));
  }
  if (!has_meta) return absl::InvalidArgumentError("the trace is empty; no meta line");
  return trace;
}

}  // namespace lzero
