#include "lzero/env/check/rollout.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/episode_record.h"

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

// Files what is seen of an environment under its episodes.
class Recorder {
 public:
  Recorder(const Env& env, const RolloutOptions& options) : env_(env), options_(options) {
    trace_.meta = {env.spec().id,
                   env.spec().max_episode_steps,
                   env.spec().action.kind,
                   options.random_opening_fraction,
                   options.random_opening_plies,
                   options.settings};
  }

  void Add(const RolloutEvent& event) {
    if (event.action == nullptr) {
      StartEpisode(event);
    } else {
      AddStep(*event.action, event.seen);
    }
    num_legal_ = CountLegal(event.seen);
  }

  Trace Take() { return std::move(trace_); }

 private:
  void StartEpisode(const RolloutEvent& event) {
    TraceEpisode episode;
    episode.episode = event.episode;
    episode.seed = event.seed;
    episode.state = StateOf(env_);
    episode.observation = event.seen.observation;
    trace_.episodes.push_back(std::move(episode));
    game_ = {};
  }

  void AddStep(const Action& action, const TimeStep& seen) {
    game_.moves.push_back(action.index);
    game_.legal_counts.push_back(num_legal_);
    TraceStep step;
    step.action = action;
    step.observation = seen.observation;
    step.reward = seen.reward;
    step.terminated = seen.terminated;
    step.truncated = seen.truncated;
    step.chance_outcome = seen.chance_outcome;
    step.state = StateOf(env_);
    trace_.episodes.back().steps.push_back(std::move(step));
    const bool from_the_first_move = options_.random_opening_fraction == 0.0;
    if (seen.terminated && env_.spec().num_players == 2 && from_the_first_move) {
      game_.returns = {seen.episode_return, 0.0 - seen.episode_return};
      trace_.games.push_back(game_);
    }
  }

  const Env& env_;
  const RolloutOptions& options_;
  Trace trace_;
  TraceGame game_;
  int32_t num_legal_ = 0;  // before the next move
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

absl::Status PlayRollout(Env& env, const RolloutOptions& options, const RolloutWatcher& watch) {
  int64_t num_steps = options.num_steps;
  if (options.actions.has_value()) {
    num_steps = std::min(num_steps, static_cast<int64_t>(options.actions->size()));
  }
  // State of the rollout, and how an episode starts.
  RandomStream random(options.seed, "rollout actions");
  int64_t episode = 0;
  int64_t t = 0;
  TimeStep seen;
  const auto seed = [&] { return options.seed + static_cast<uint64_t>(episode); };
  const auto start = [&] {
    seen = env.Reset(seed());
    t = 0;
    return watch({episode, seed(), t, nullptr, seen});
  };
  // Play.
  LZ_RETURN_IF_ERROR(start());
  for (int64_t index = 0; index < num_steps; ++index) {
    if (seen.ended()) {
      ++episode;
      LZ_RETURN_IF_ERROR(start());
    }
    Action action;
    if (options.actions.has_value()) {
      action = (*options.actions)[index];
    } else {
      LZ_ASSIGN_OR_RETURN(action, RandomAction(env.spec(), seen.legal_action_mask, random));
    }
    absl::StatusOr<TimeStep> next = env.Step(action);
    if (!next.ok()) return Annotate(next.status(), absl::StrCat("action number ", index + 1));
    if (next->interrupted) return InterruptedError(seed(), static_cast<size_t>(t));
    seen = *std::move(next);
    LZ_RETURN_IF_ERROR(watch({episode, seed(), ++t, &action, seen}));
  }
  return absl::OkStatus();
}

absl::StatusOr<Trace> RecordRollout(Env& env, const RolloutOptions& options) {
  Recorder recorder(env, options);
  LZ_RETURN_IF_ERROR(PlayRollout(env, options, [&](const RolloutEvent& event) {
    recorder.Add(event);
    return absl::OkStatus();
  }));
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
