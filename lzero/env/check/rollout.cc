#include "lzero/env/check/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/vector_env.h"

namespace lzero {
namespace {

Action RandomBoxAction(const ActionSpec& box, RandomStream& random) {
  Action action;
  for (size_t i = 0; i < box.low.size(); ++i) {
    const bool finite = std::isfinite(box.low[i]) && std::isfinite(box.high[i]);
    const double low = box.low[i], high = box.high[i];
    const double value = finite ? low + (high - low) * random.Uniform() : random.Normal();
    action.values.push_back(static_cast<float>(value));
  }
  return action;
}

// Bits, not values: a NaN equals itself and -0 differs from 0.
constexpr auto kSameBits = [](auto a, auto b) { return std::memcmp(&a, &b, sizeof(a)) == 0; };

std::optional<std::vector<double>> StateOf(const Env& env) {
  if (!env.spec().can_set_state) return std::nullopt;
  const auto state = env.GetState();
  return state.ok() ? std::optional(*state) : std::nullopt;
}

int32_t CountLegal(const TimeStep& step) {
  return static_cast<int32_t>(
      std::count(step.legal_action_mask.begin(), step.legal_action_mask.end(), 1));
}

absl::Status NotA(absl::string_view what, absl::string_view given, int line_number) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", line_number, ": ", QuotedForMessage(given), " is not ", what));
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

constexpr int kStepsBetweenClocks = 256;

absl::StatusOr<EnvSpeed> MeasureOne(Env& env, double seconds) {
  RandomStream random(0, "env speed");
  EnvSpeed speed;
  const double start = MonotonicSeconds();
  TimeStep last = env.Reset(static_cast<uint64_t>(speed.num_episodes++));
  while (speed.seconds < seconds) {
    for (int i = 0; i < kStepsBetweenClocks; ++i) {
      if (last.ended()) last = env.Reset(static_cast<uint64_t>(speed.num_episodes++));
      LZ_ASSIGN_OR_RETURN(const Action action,
                          RandomAction(env.spec(), last.legal_action_mask, random));
      LZ_ASSIGN_OR_RETURN(last, env.Step(action));
    }
    speed.num_steps += kStepsBetweenClocks;
    speed.seconds = MonotonicSeconds() - start;
  }
  return speed;
}

absl::StatusOr<EnvSpeed> MeasureTogether(VectorEnv& envs, double seconds) {
  RandomStream random(0, "env speed");
  EnvSpeed speed;
  std::vector<EnvId> ids;
  for (int i = 0; i < envs.num_envs(); ++i) ids.push_back(EnvId(i));
  std::vector<Action> actions(ids.size());
  const double start = MonotonicSeconds();
  for (const EnvId id : ids) envs.Reset(id, static_cast<uint64_t>(speed.num_episodes++));
  while (speed.seconds < seconds) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (envs.last(ids[i]).ended()) {
        envs.Reset(ids[i], static_cast<uint64_t>(speed.num_episodes++));
      }
      LZ_ASSIGN_OR_RETURN(actions[i],
                          RandomAction(envs.spec(), envs.last(ids[i]).legal_action_mask, random));
    }
    LZ_RETURN_IF_ERROR(envs.Step(ids, actions));
    speed.num_steps += static_cast<int64_t>(ids.size());
    speed.seconds = MonotonicSeconds() - start;
  }
  return speed;
}

// What is said of an interrupted step, the `t`-th after Reset(seed).
absl::Status InterruptedError(uint64_t seed, size_t t) {
  return absl::UnavailableError(absl::StrCat(
      "seed ", seed, ", step ", t, ": the environment failed, as the warning before this says"));
}

}  // namespace

absl::StatusOr<Action> RandomAction(const EnvSpec& spec, absl::Span<const uint8_t> mask,
                                    RandomStream& random) {
  if (spec.action.kind == ActionKind::kBox) return RandomBoxAction(spec.action, random);
  std::vector<int32_t> legal;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) legal.push_back(static_cast<int32_t>(i));
  }
  if (legal.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", spec.id, "' offers no legal action in a running episode"));
  }
  return Action::Discrete(legal[random.UniformInt(static_cast<int64_t>(legal.size()))]);
}

absl::StatusOr<EpisodeRecord> PlayRandomEpisode(Env& env, uint64_t seed, int64_t max_steps) {
  EpisodeRecord record;
  record.seed = seed;
  record.steps.push_back(env.Reset(seed));
  RandomStream random(seed, "random episode");
  while (!record.steps.back().ended() && static_cast<int64_t>(record.actions.size()) < max_steps) {
    LZ_ASSIGN_OR_RETURN(Action action,
                        RandomAction(env.spec(), record.steps.back().legal_action_mask, random));
    absl::StatusOr<TimeStep> step = env.Step(action);
    if (!step.ok()) {
      return Annotate(step.status(), absl::StrCat("seed ", seed, ", step ", record.actions.size()));
    }
    if (step->interrupted) return InterruptedError(seed, record.actions.size());
    record.actions.push_back(std::move(action));
    record.steps.push_back(std::move(step).value());
  }
  return record;
}

std::string TimeStepDifference(const TimeStep& got, const TimeStep& expected) {
  std::string difference =
      ListDifference("observation", got.observation, expected.observation, kSameBits);
  if (difference.empty() && got.legal_action_mask != expected.legal_action_mask) {
    difference = "legal_action_mask differs";
  }
  const auto compare = [&](absl::string_view field, auto value, auto wanted) {
    if (difference.empty() && !kSameBits(value, wanted)) difference = Differs(field, value, wanted);
  };
  compare("to_play", got.to_play, expected.to_play);
  compare("reward", got.reward, expected.reward);
  compare("terminated", got.terminated, expected.terminated);
  compare("truncated", got.truncated, expected.truncated);
  compare("chance_outcome", got.chance_outcome, expected.chance_outcome);
  compare("episode_return", got.episode_return, expected.episode_return);
  return difference;
}

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
  const EnvSpec& spec = env.spec();
  Trace trace;
  trace.meta = {spec.id,
                spec.max_episode_steps,
                spec.action.kind,
                options.random_opening_fraction,
                options.random_opening_plies,
                options.settings};
  TraceGame game;
  int32_t num_legal = 0;  // before the next move
  LZ_RETURN_IF_ERROR(PlayRollout(env, options, [&](const RolloutEvent& event) {
    const TimeStep& seen = event.seen;
    if (event.action == nullptr) {
      trace.episodes.push_back({event.episode, event.seed, StateOf(env), seen.observation});
      game = {};
    } else {
      game.moves.push_back(event.action->index);
      game.legal_counts.push_back(num_legal);
      trace.episodes.back().steps.push_back({*event.action, seen.observation, seen.reward,
                                             seen.terminated, seen.truncated, StateOf(env),
                                             seen.chance_outcome});
      if (seen.terminated && spec.num_players == 2 && options.random_opening_fraction == 0.0) {
        game.returns = {seen.episode_return, 0.0 - seen.episode_return};
        trace.games.push_back(game);
      }
    }
    num_legal = CountLegal(seen);
    return absl::OkStatus();
  }));
  return trace;
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

absl::StatusOr<EnvSpeed> MeasureEnvSpeed(std::vector<std::unique_ptr<Env>> envs, double seconds) {
  if (envs.size() == 1) return MeasureOne(*envs[0], seconds);
  ThreadPool pool(1);
  LZ_ASSIGN_OR_RETURN(const auto together, VectorEnv::Create(std::move(envs), &pool));
  return MeasureTogether(*together, seconds);
}

}  // namespace lzero
