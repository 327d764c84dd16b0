#include "lzero/env/check/trace_replay.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/env/check/rollout.h"

namespace lzero {
namespace {

constexpr double kTolerance = 1e-6;

bool Near(double got, double recorded) {
  return std::fabs(got - recorded) <= kTolerance * std::fmax(1.0, std::fabs(recorded));
}

constexpr char kRecorded[] = "recorded";

std::string StartDifference(const Env& env, const TimeStep& start, const TraceEpisode& episode) {
  if (episode.state.has_value() && env.spec().can_set_state) {
    const absl::StatusOr<std::vector<double>> state = env.GetState();
    if (!state.ok()) return std::string(state.status().message());
    std::string difference =
        ListDifference("start state", *state, *episode.state, std::equal_to<double>(), kRecorded);
    if (!difference.empty()) return difference;
  }
  return ListDifference("observation", start.observation, episode.observation, Near, kRecorded);
}

std::string StepDifference(const TimeStep& got, bool got_truncated, const TraceStep& recorded) {
  std::string difference =
      ListDifference("observation", got.observation, recorded.observation, Near, kRecorded);
  if (!difference.empty()) return difference;
  if (!Near(got.reward, recorded.reward)) {
    return Differs("reward", got.reward, recorded.reward, kRecorded);
  }
  const auto word = [](bool value) { return value ? "true" : "false"; };
  if (got.terminated != recorded.terminated) {
    return Differs("terminated", word(got.terminated), word(recorded.terminated), kRecorded);
  }
  if (got_truncated != recorded.truncated) {
    return Differs("truncated", word(got_truncated), word(recorded.truncated), kRecorded);
  }
  return "";
}

bool HasStates(const TraceEpisode& episode) {
  return episode.state.has_value() &&
         std::all_of(episode.steps.begin(), episode.steps.end(),
                     [](const TraceStep& step) { return step.state.has_value(); });
}

// Plays one step of an episode; "" when it agrees with the recording.
std::string PlayStep(Env& env, const TraceEpisode& episode, size_t t, bool whole) {
  const TraceStep& recorded = episode.steps[t];
  if (!whole) {
    const std::vector<double>& before = t == 0 ? *episode.state : *episode.steps[t - 1].state;
    const absl::Status status = env.SetState(before);
    if (!status.ok()) return absl::StrCat("recorded state refused: ", status.message());
  }
  const bool chance_is_known = recorded.chance_outcome >= 0;
  const absl::StatusOr<TimeStep> got =
      chance_is_known ? env.StepWithOutcome(recorded.action, recorded.chance_outcome)
                      : env.Step(recorded.action);
  if (!got.ok()) return absl::StrCat("step refused: ", got.status().message());
  // SetState begins at step 0, so the cap of a step taken alone is counted here.
  const int64_t cap = env.spec().max_episode_steps;
  const bool at_cap = cap > 0 && static_cast<int64_t>(t) + 1 >= cap;
  return StepDifference(*got, got->truncated || (!whole && at_cap), recorded);
}

void ReplayEpisode(Env& env, const TraceEpisode& episode, bool whole, ReplayReport& report) {
  whole = whole || !env.spec().can_set_state || !HasStates(episode);
  ++report.num_episodes;
  if (whole) ++report.num_whole;
  const std::string name = absl::StrCat("episode ", episode.episode);
  const TimeStep start = env.Reset(episode.seed);
  std::string difference = StartDifference(env, start, episode);
  if (!difference.empty()) {
    report.differences.push_back(absl::StrCat("line ", episode.line, ": ", name, " start (seed ",
                                              episode.seed, "): ", difference));
    return;
  }
  for (size_t t = 0; t < episode.steps.size(); ++t) {
    ++report.num_steps;
    difference = PlayStep(env, episode, t, whole);
    if (!difference.empty()) {
      report.differences.push_back(
          absl::StrCat("line ", episode.steps[t].line, ": ", name, " step ", t, ": ", difference));
      return;
    }
  }
}

std::string ReturnsDifference(const TimeStep& last, int num_players, const TraceGame& game) {
  if (game.returns.empty()) return "";
  if (!last.ended()) return "the game is not over, recorded as over";
  const std::vector<double> got = {last.episode_return, 0.0 - last.episode_return};
  for (int player = 0; player < num_players; ++player) {
    if (!Near(got[player], game.returns[player])) {
      return Differs(absl::StrCat("return of player ", player), got[player], game.returns[player],
                     kRecorded);
    }
  }
  return "";
}

std::string ActionList(const std::vector<uint8_t>& mask) {
  std::string text = "{";
  for (size_t action = 0; action < mask.size(); ++action) {
    if (mask[action] != 0) absl::StrAppend(&text, text.size() > 1 ? " " : "", action);
  }
  return text + "}";
}

// `legal` [num_actions], what was recorded before the move ahead, becomes that before `move`.
std::string LegalDifference(const std::vector<uint8_t>& got, const TraceGame& game, size_t move,
                            std::vector<uint8_t>& legal) {
  const auto num_legal = std::count(got.begin(), got.end(), 1);
  if (num_legal != game.legal_counts[move]) {
    return Differs("number of legal moves", num_legal, game.legal_counts[move], kRecorded);
  }
  if (game.legal_changes.empty()) return "";
  for (const int32_t action : game.legal_changes[move]) {
    if (action >= static_cast<int32_t>(legal.size())) {
      return absl::StrCat("'legal_changes' names action ", action, " of ", legal.size());
    }
    legal[action] ^= 1;
  }
  if (got == legal) return "";
  return Differs("the set of legal moves", ActionList(got), ActionList(legal), kRecorded);
}

std::string GameDifference(Env& env, const TraceGame& game, ReplayReport& report) {
  TimeStep last = env.Reset(0);
  std::vector<uint8_t> legal(last.legal_action_mask.size(), 0);
  for (size_t i = 0; i < game.moves.size(); ++i) {
    const std::string where = absl::StrCat("move ", i, " (", game.moves[i], "): ");
    const std::string difference = LegalDifference(last.legal_action_mask, game, i, legal);
    if (!difference.empty()) return where + difference;
    absl::StatusOr<TimeStep> next = env.Step(Action::Discrete(game.moves[i]));
    if (!next.ok()) return absl::StrCat(where, "refused: ", next.status().message());
    last = std::move(next).value();
    ++report.num_steps;
  }
  return ReturnsDifference(last, std::min(env.spec().num_players, 2), game);
}

}  // namespace

absl::StatusOr<ReplayReport> ReplayTrace(Env& env, const Trace& trace, bool whole) {
  const EnvSpec& spec = env.spec();
  const auto word = [](ActionKind kind) { return kind == ActionKind::kBox ? "box" : "discrete"; };
  if (trace.meta.action != spec.action.kind) {
    return absl::InvalidArgumentError(absl::StrCat("the trace has ", word(trace.meta.action),
                                                   " actions; '", spec.id, "' takes ",
                                                   word(spec.action.kind), " ones"));
  }
  if (spec.action.kind == ActionKind::kBox && !trace.games.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the trace has games; '", spec.id, "' takes box actions"));
  }
  if (trace.meta.random_opening_fraction > 0.0 && !trace.games.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("line ", trace.games[0].line,
                                                   ": a game in a trace with random openings; ",
                                                   "games begin with their first move"));
  }
  ReplayReport report;
  for (const TraceEpisode& episode : trace.episodes) ReplayEpisode(env, episode, whole, report);
  for (size_t i = 0; i < trace.games.size(); ++i) {
    const TraceGame& game = trace.games[i];
    ++report.num_games;
    const std::string difference = GameDifference(env, game, report);
    if (!difference.empty()) {
      report.differences.push_back(
          absl::StrCat("line ", game.line, ": game ", i, ": ", difference));
    }
  }
  return report;
}

}  // namespace lzero
