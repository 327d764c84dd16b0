// Recorded episodes as JSON lines: plain records, a writer of single lines, a reader of whole
// files. The reader takes anything and answers with an error that names the line; it never plays
// the game (see trace_replay.h). The "type" of a line is meta, reset, step or game. Pure functions.
//
//   {"type":"meta","env":ID,"max_episode_steps":N,"action":"discrete"|"box"}
//   {"type":"reset","episode":K,"seed":S,"state":[..]|null,"obs":[..]}
//   {"type":"step","t":0,"action":A|[..],"obs":[..],"reward":R,"terminated":B,"truncated":B,
//    "state":[..]|null}
//   {"type":"game","moves":[..],"legal_counts":[..],"returns":[..]|null}
//
// Keys that only some environments need are members of the structs below.
#ifndef LZERO_ENV_CHECK_TRACE_H_
#define LZERO_ENV_CHECK_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/env/env.h"
#include "lzero/env/env_setting.h"

namespace lzero {

struct TraceMeta {
  std::string env;
  int64_t max_episode_steps = 0;  // 0: none
  ActionKind action = ActionKind::kDiscrete;
  // Settings under which Reset(seed) begins with random moves; not written when the fraction is 0.
  double random_opening_fraction = 0.0;
  int64_t random_opening_plies = 0;
  EnvSettingTexts settings = {};  // of this environment alone; not written when empty
};

struct TraceStep {
  Action action;
  std::vector<float> observation;
  double reward = 0.0;
  bool terminated = false;
  bool truncated = false;
  std::optional<std::vector<double>> state;  // after the step
  int32_t chance_outcome = -1;               // drawn by the step; not written when -1
  int line = 0;                              // of the file, from 1; not written
};

struct TraceEpisode {
  int64_t episode = 0;
  uint64_t seed = 0;
  std::optional<std::vector<double>> state;
  std::vector<float> observation;
  std::vector<TraceStep> steps = {};
  int line = 0;
};

// A board game from its first move; `returns` is empty when the game was not played to its end.
struct TraceGame {
  std::vector<int32_t> moves;
  std::vector<int32_t> legal_counts;  // before each move
  std::vector<double> returns;        // [2]
  int line = 0;
  // Before each move the actions, in rising order, that are legal now and were not before the move
  // that came before, or the other way round (of the first move: all legal ones): whole sets in
  // little space. Empty: only their numbers were recorded; then not written.
  std::vector<std::vector<int32_t>> legal_changes = {};
};

struct Trace {
  TraceMeta meta;
  std::vector<TraceEpisode> episodes;
  std::vector<TraceGame> games;
};

// One line each, with '\n'; every number reads back exactly.
std::string TraceMetaLine(const TraceMeta& meta);
std::string TraceResetLine(const TraceEpisode& episode);
std::string TraceStepLine(int64_t t, const TraceStep& step, ActionKind kind);
std::string TraceGameLine(const TraceGame& game);
// The whole file: meta, episodes, games.
std::string TraceText(const Trace& trace);

// Ignores keys that the writer does not write. InvalidArgument "line N: ..." for everything that is
// not a trace.
absl::StatusOr<Trace> ParseTrace(absl::string_view text);

// Shortest text that reads back as the same number; always with '.', 'e', or a word in it.
std::string ExactNumber(double value);
std::string ExactNumber(float value);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_TRACE_H_
