#include "lzero/env/check/trace.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr double kFloatMax = std::numeric_limits<float>::max();

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

std::string AsciiText(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

constexpr JsonLimits kNotNegative = {.low = 0};

TraceMeta ReadMeta(const JsonReader& line) {
  TraceMeta meta;
  line.Read("env", &meta.env);
  line.MaybeRead("max_episode_steps", &meta.max_episode_steps, kNotNegative);
  if (line.Has("random_opening_fraction")) {
    line.Read("random_opening_fraction", &meta.random_opening_fraction);
    line.Read("random_opening_plies", &meta.random_opening_plies, kNotNegative);
  }
  if (line.Has("settings")) {
    const JsonReader settings = line.Object("settings");
    for (const std::string& name : settings.Names()) {
      settings.ReadAsText(name, &meta.settings[name]);
    }
  }
  std::string action = "discrete";
  line.MaybeRead("action", &action);
  if (action != "discrete" && action != "box") line.Wrong("action", "\"discrete\" or \"box\"");
  if (action == "box") meta.action = ActionKind::kBox;
  return meta;
}

TraceEpisode ReadReset(const JsonReader& line) {
  TraceEpisode episode;
  line.Read("episode", &episode.episode, kNotNegative);
  line.Read("seed", &episode.seed);
  line.MaybeRead("state", &episode.state);
  line.Read("obs", &episode.observation);
  return episode;
}

TraceStep ReadStep(const JsonReader& line, ActionKind kind, int64_t expected_t) {
  TraceStep step;
  int64_t t = 0;
  line.Read("t", &t, {.low = expected_t, .high = expected_t, .note = " here"});
  if (kind == ActionKind::kBox) {
    line.Read("action", &step.action.values);
  } else {
    line.Read("action", &step.action.index, {.low = 0, .note = " (the meta line says discrete)"});
  }
  line.Read("obs", &step.observation);
  line.Read("reward", &step.reward);
  line.Read("terminated", &step.terminated);
  line.Read("truncated", &step.truncated);
  line.MaybeRead("state", &step.state);
  line.MaybeRead("chance", &step.chance_outcome, {.low = 0, .note = ", or null"});
  return step;
}

TraceGame ReadGame(const JsonReader& line) {
  TraceGame game;
  line.Read("moves", &game.moves, kNotNegative);
  const JsonLimits one_each = {
      .low = 0, .size = static_cast<int64_t>(game.moves.size()), .note = ", one for each move"};
  line.Read("legal_counts", &game.legal_counts, one_each);
  line.MaybeRead("legal_changes", &game.legal_changes, one_each);
  line.MaybeRead("returns", &game.returns, {.size = 2, .note = ", or null"});
  return game;
}

void AddStep(const JsonReader& line, int line_number, Trace& trace) {
  if (trace.episodes.empty()) {
    line.Fail("a step before the first reset");
    return;
  }
  TraceEpisode& episode = trace.episodes.back();
  if (!episode.steps.empty() &&
      (episode.steps.back().terminated || episode.steps.back().truncated)) {
    line.Fail(absl::StrCat("a step after the end of episode ", episode.episode));
  }
  const int64_t expected_t = static_cast<int64_t>(episode.steps.size());
  episode.steps.push_back(ReadStep(line, trace.meta.action, expected_t));
  episode.steps.back().line = line_number;
}

absl::Status AddLine(absl::string_view text, int line_number, bool& has_meta, Trace& trace) {
  LZ_ASSIGN_OR_RETURN(const JsonReader line,
                      JsonReader::Parse(text, {absl::StrCat("line ", line_number)}));
  std::string type;
  line.Read("type", &type);
  LZ_RETURN_IF_ERROR(line.status());
  if (has_meta && type == "meta") return line.Fail("a second meta line");
  if (!has_meta && type != "meta") return line.Wrong("type", "\"meta\" in the first line");
  if (type == "meta") {
    trace.meta = ReadMeta(line);
    has_meta = true;
  } else if (type == "reset") {
    trace.episodes.push_back(ReadReset(line));
    trace.episodes.back().line = line_number;
  } else if (type == "step") {
    AddStep(line, line_number, trace);
  } else if (type == "game") {
    trace.games.push_back(ReadGame(line));
    trace.games.back().line = line_number;
  } else {
    line.Wrong("type", "\"meta\", \"reset\", \"step\" or \"game\"");
  }
  return line.status();
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
      meta.settings.empty() ? "" : absl::StrCat(R"(,"settings":)", AsciiText(meta.settings));
  std::string openings;
  if (meta.random_opening_fraction > 0.0) {
    openings =
        absl::StrCat(R"(,"random_opening_fraction":)", ExactNumber(meta.random_opening_fraction),
                     R"(,"random_opening_plies":)", meta.random_opening_plies);
  }
  return absl::StrCat(R"({"type":"meta","env":)", AsciiText(meta.env), R"(,"max_episode_steps":)",
                      meta.max_episode_steps, openings, settings, R"(,"action":")",
                      meta.action == ActionKind::kBox ? "box" : "discrete", "\"}\n");
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
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.find_first_not_of(" \t\r") == absl::string_view::npos) continue;
    LZ_RETURN_IF_ERROR(AddLine(line, line_number, has_meta, trace));
  }
  if (!has_meta) return absl::InvalidArgumentError("the trace is empty; no meta line");
  return trace;
}

}  // namespace lzero
