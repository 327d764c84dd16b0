#include "lzero/env/rollout.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_record.h"

namespace lzero {
namespace {

std::optional<std::vector<double>> StateOf(const Env& env) {
  if (!env.spec().can_set_state) return std::nullopt;
  absl::StatusOr<std::vector<double>> state = env.GetState();
  if (!state.ok()) return std::nullopt;
  return std::move(state).value();
}

int32_t CountLegal(const TimeStep& step) {
  return static_cast<int32_t>(
      std::count(step.legal_action_mask.begin(), step.legal_action_mask.end(), 1));
}

// Plays one environment step after another and files them under their episodes.
class Recorder {
 public:
  Recorder(Env& env, const RolloutOptions& options)
      : env_(env), options_(options), random_(options.seed, "rollout actions") {
    trace_.meta = {env.spec().id, env.spec().max_episode_steps, env.spec().action.kind,
                   options.random_opening_fraction, options.random_opening_plies};
  }

  void StartEpisode() {
    const uint64_t number = trace_.episodes.size();
    TraceEpisode episode;
    episode.episode = static_cast<int64_t>(number);
    episode.seed = options_.seed + number;
    last_ = env_.Reset(episode.seed);
    episode.state = StateOf(env_);
    episode.observation = last_.observation;
    trace_.episodes.push_back(std::move(episode));
    game_ = {};
  }

  absl::Status PlayOne(int64_t index) {
    Action action;
    if (options_.actions.has_value()) {
      action = (*options_.actions)[index];
    } else {
      LZ_ASSIGN_OR_RETURN(action, RandomAction(env_.spec(), last_.legal_action_mask, random_));
    }
    game_.moves.push_back(action.index);
    game_.legal_counts.push_back(CountLegal(last_));
    absl::StatusOr<TimeStep> next = env_.Step(action);
    if (!next.ok()) return Annotate(next.status(), absl::StrCat("action number ", index + 1));
    last_ = std::move(next).value();
    TraceStep step;
    step.action = std::move(action);
    step.observation = last_.observation;
    step.reward = last_.reward;
    step.terminated = last_.terminated;
    step.truncated = last_.truncated;
    step.state = StateOf(env_);
    trace_.episodes.back().steps.push_back(std::move(step));
    const bool from_the_first_move = options_.random_opening_fraction == 0.0;
    if (last_.terminated && env_.spec().num_players == 2 && from_the_first_move) {
      game_.returns = {last_.episode_return, 0.0 - last_.episode_return};
      trace_.games.push_back(game_);
    }
    return absl::OkStatus();
  }

  bool ended() const { return last_.ended(); }
  Trace Take() { return std::move(trace_); }

 private:
  Env& env_;
  const RolloutOptions& options_;
  RandomStream random_;
  Trace trace_;
  TimeStep last_;
  TraceGame game_;
};

absl::Status NotA(absl::string_view what, absl::string_view given, int line_number) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line_number, ": '", given.substr(0, 40), "' is not ", what));
}

// Every integer of a line is an action, or the numbers of a line together are one.
absl::Status ParseActionLine(absl::string_view line, ActionKind kind, int line_number,
                             std::vector<Action>& actions) {
  std::vector<float> values;
  for (const absl::string_view part :
       absl::StrSplit(line, absl::ByAnyChar(", \t\r"), absl::SkipEmpty())) {
    if (kind == ActionKind::kDiscrete) {
      int32_t index = 0;
      if (!absl::SimpleAtoi(part, &index)) return NotA("an integer", part, line_number);
      actions.push_back(Action::Discrete(index));
    } else {
      float value = 0.0f;
      if (!absl::SimpleAtof(part, &value)) return NotA("a number", part, line_number);
      values.push_back(value);
    }
  }
  if (!values.empty()) actions.push_back({0, std::move(values)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Trace> RecordRollout(Env& env, const RolloutOptions& options) {
  int64_t num_steps = options.num_steps;
  if (options.actions.has_value()) {
    num_steps = std::min(num_steps, static_cast<int64_t>(options.actions->size()));
  }
  Recorder recorder(env, options);
  recorder.StartEpisode();
  for (int64_t index = 0; index < num_steps; ++index) {
    if (recorder.ended()) recorder.StartEpisode();
    LZ_RETURN_IF_ERROR(recorder.PlayOne(index));
  }
  return recorder.Take();
}

absl::StatusOr<std::vector<Action>> ParseActions(absl::string_view text, ActionKind kind) {
  std::vector<Action> actions;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view content = line.substr(0, line.find('#'));
    LZ_RETURN_IF_ERROR(ParseActionLine(content, kind, ++line_number, actions));
  }
  return actions;
}

}  // namespace lzero
