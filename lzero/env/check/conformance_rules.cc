#include "lzero/env/check/conformance_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status CheckBounds(absl::string_view name, const std::vector<float>& low,
                         const std::vector<float>& high, int64_t size, bool one_for_all) {
  const int64_t count = static_cast<int64_t>(low.size());
  const bool fits = count == size || (one_for_all && count == 1);
  if (!fits || low.size() != high.size()) {
    return Broken(name, " has ", low.size(), " low and ", high.size(), " high bounds for ", size,
                  " elements");
  }
  for (size_t i = 0; i < low.size(); ++i) {
    if (!(low[i] <= high[i])) return Broken(name, " bound ", i, " is ", low[i], " .. ", high[i]);
  }
  return absl::OkStatus();
}

absl::Status CheckObservation(const EnvSpec& spec, const TimeStep& step) {
  const ObservationSpec& space = spec.observation;
  if (static_cast<int64_t>(step.observation.size()) != space.size()) {
    return Broken("the observation has ", step.observation.size(), " elements, the spec says ",
                  space.size());
  }
  for (size_t i = 0; i < step.observation.size(); ++i) {
    if (std::isfinite(step.observation[i])) continue;
    return Broken("observation[", i, "] is ", step.observation[i]);
  }
  if (space.type == ObservationType::kUint8) {
    std::vector<uint8_t> bytes(step.observation.size());
    const int64_t wrong = FractionsToBytes(step.observation, bytes.data());
    if (wrong >= 0) {
      return Broken("observation[", wrong, "] is ", step.observation[wrong],
                    ", but the spec says uint8: k / 255, k of 0 to 255");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckObservationBounds(const ObservationSpec& space, const TimeStep& step) {
  for (size_t i = 0; i < step.observation.size(); ++i) {
    const float low = space.low[space.low.size() == 1 ? 0 : i];
    const float high = space.high[space.high.size() == 1 ? 0 : i];
    const float value = step.observation[i];
    if (value < low || value > high) {
      return Broken("observation[", i, "] is ", value, ", outside ", low, " .. ", high);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaskAndFlags(const EnvSpec& spec, const TimeStep& step) {
  const std::vector<uint8_t>& mask = step.legal_action_mask;
  const bool discrete = spec.action.kind == ActionKind::kDiscrete;
  if (discrete && static_cast<int>(mask.size()) != spec.action.num_actions) {
    return Broken("the mask has ", mask.size(), " elements for ", spec.action.num_actions,
                  " actions");
  }
  if (std::any_of(mask.begin(), mask.end(), [](uint8_t legal) { return legal > 1; })) {
    return Broken("the mask holds something else than 0 and 1");
  }
  const auto num_legal = std::count(mask.begin(), mask.end(), 1);
  if (step.ended() && num_legal > 0) return Broken(num_legal, " actions are legal after the end");
  if (discrete && !step.ended() && num_legal == 0) return Broken("no action is legal");
  if (step.to_play < 0 || step.to_play >= spec.num_players) {
    return Broken("to_play is ", step.to_play, " of ", spec.num_players, " players");
  }
  if (!std::isfinite(step.reward)) return Broken("the reward is not a finite number");
  return absl::OkStatus();
}

absl::Status CheckReset(const TimeStep& first) {
  if (first.ended()) return Broken("Reset gives an episode that has ended");
  if (first.reward != 0.0f || first.episode_return != 0.0) {
    return Broken("Reset gives a reward or a return");
  }
  return absl::OkStatus();
}

// The first error that `check` finds in a time step, with its place.
absl::Status CheckEach(absl::Span<const EpisodeRecord> episodes,
                       absl::FunctionRef<absl::Status(const EpisodeRecord&, size_t)> check) {
  for (const EpisodeRecord& record : episodes) {
    for (size_t t = 0; t < record.steps.size(); ++t) {
      LZ_RETURN_IF_ERROR(At(record, t, check(record, t)));
    }
  }
  return absl::OkStatus();
}

std::vector<Action> BadBoxActions(const ActionSpec& box) {
  std::vector<float> inside;
  for (size_t i = 0; i < box.low.size(); ++i) {
    inside.push_back(std::clamp(0.0f, box.low[i], box.high[i]));
  }
  std::vector<Action> bad(4, {0, inside});
  bad[0].values[0] = std::numeric_limits<float>::quiet_NaN();
  bad[1].values[0] = std::numeric_limits<float>::infinity();
  bad[2].values.clear();
  bad[3].values.push_back(0.0f);
  return bad;
}

absl::Status CheckList(const EnvSpec& spec, const std::vector<ChanceOutcome>& chances,
                       int32_t drawn) {
  double sum = 0.0;
  std::set<int32_t> indices;
  for (const ChanceOutcome& chance : chances) {
    if (chance.index < 0 || chance.index >= spec.num_chance_outcomes) {
      return Broken("chance outcome ", chance.index, " of ", spec.num_chance_outcomes);
    }
    if (!indices.insert(chance.index).second) {
      return Broken("chance outcome ", chance.index, " is listed twice");
    }
    if (!(chance.probability > 0.0)) {
      return Broken("chance outcome ", chance.index, " has probability ", chance.probability);
    }
    sum += chance.probability;
  }
  if (std::fabs(sum - 1.0) > 1e-9) return Broken("probabilities sum to ", sum);
  if (indices.count(drawn) > 0) return absl::OkStatus();
  return Broken("the step drew outcome ", drawn, ", which is not listed");
}

// Plays the record with its own outcomes given, and tries one that cannot happen before each step.
absl::Status FollowOutcomes(Env& env, const EpisodeRecord& record) {
  env.Reset(record.seed);
  const int32_t beyond = env.spec().num_chance_outcomes;
  for (size_t t = 0; t < record.actions.size(); ++t) {
    const int32_t drawn = record.steps[t + 1].chance_outcome;
    const auto chances = env.ChanceOutcomes(record.actions[t]);
    LZ_RETURN_IF_ERROR(At(record, t, chances.status()));
    LZ_RETURN_IF_ERROR(At(record, t, CheckList(env.spec(), *chances, drawn)));
    if (!absl::IsInvalidArgument(env.StepWithOutcome(record.actions[t], beyond).status())) {
      return BrokenAt(record, t, "chance outcome ", beyond, " is not refused");
    }
    LZ_RETURN_IF_ERROR(CheckSame(record, t + 1, env.StepWithOutcome(record.actions[t], drawn),
                                 record.steps[t + 1], "played with its outcome: "));
  }
  return absl::OkStatus();
}

// Every finite bound of `box` by itself, and the same overstepped.
std::vector<std::pair<Action, Action>> BoundsAndBeyond(const ActionSpec& box,
                                                       const Action& inside) {
  std::vector<std::pair<Action, Action>> pairs;
  for (size_t i = 0; i < box.low.size(); ++i) {
    for (const auto& [bound, step] : {std::pair{box.low[i], -1.5f}, {box.high[i], 1.5f}}) {
      if (!std::isfinite(bound)) continue;
      pairs.push_back({inside, inside});
      pairs.back().first.values[i] = bound;
      pairs.back().second.values[i] = bound + step;
    }
  }
  return pairs;
}

// A reference may round what it makes of a clipped action otherwise than of the bound itself.
void ForgiveRounding(const std::vector<float>& expected, std::vector<float>& got) {
  if (got.size() != expected.size()) return;
  for (size_t i = 0; i < got.size(); ++i) {
    const float scale = std::fmax(1.0f, std::fabs(expected[i]));
    if (std::fabs(got[i] - expected[i]) <= 1e-6f * scale) got[i] = expected[i];
  }
}

}  // namespace

absl::Status At(const EpisodeRecord& record, size_t t, const absl::Status& status) {
  return status.ok() ? status : BrokenAt(record, t, status.message());
}

absl::Status CheckSame(const EpisodeRecord& record, size_t t, const absl::StatusOr<TimeStep>& got,
                       const TimeStep& expected, absl::string_view how) {
  if (!got.ok()) return BrokenAt(record, t, got.status().message());
  const std::string difference = TimeStepDifference(*got, expected);
  return difference.empty() ? absl::OkStatus() : BrokenAt(record, t, how, difference);
}

absl::Status CheckSpec(const EnvSpec& spec) {
  // The game.
  if (spec.id.empty()) return Broken("the id is empty");
  if (spec.num_players < 1) return Broken("num_players is ", spec.num_players);
  if (spec.num_chance_outcomes < 0 || (spec.num_chance_outcomes > 0 && spec.deterministic)) {
    return Broken("num_chance_outcomes is ", spec.num_chance_outcomes,
                  spec.deterministic ? " in a deterministic environment" : "");
  }
  if (spec.max_episode_steps < 0) return Broken("max_episode_steps is ", spec.max_episode_steps);
  // Observations.
  for (const int64_t length : spec.observation.shape) {
    if (length < 1) return Broken("the observation has an axis of length ", length);
  }
  const int64_t num_blocks = spec.observation.frame_stack;
  if (num_blocks < 1 || spec.observation.size() % num_blocks != 0) {
    return Broken("frame_stack is ", num_blocks, ", no divisor of the observation's ",
                  spec.observation.size(), " elements");
  }
  LZ_RETURN_IF_ERROR(CheckBounds("observation", spec.observation.low, spec.observation.high,
                                 spec.observation.size(), true));
  // Box actions.
  if (spec.action.kind == ActionKind::kBox) {
    if (spec.action.low.empty()) return Broken("the action has no elements");
    if (!spec.symmetries.empty()) return Broken("symmetries need discrete actions");
    return CheckBounds("action", spec.action.low, spec.action.high,
                       static_cast<int64_t>(spec.action.low.size()), false);
  }
  // Discrete actions and their symmetries.
  if (spec.action.num_actions < 1) return Broken("num_actions is ", spec.action.num_actions);
  const size_t num_places = spec.action.places.size();
  if (num_places != 0 && num_places != static_cast<size_t>(spec.action.num_actions)) {
    return Broken(num_places, " places for ", spec.action.num_actions, " actions");
  }
  for (size_t k = 0; k < spec.symmetries.size(); ++k) {
    const std::string problem = SymmetryProblem(spec.symmetries[k], spec.observation.size(),
                                                spec.action.num_actions, spec.num_chance_outcomes);
    if (!problem.empty()) return Broken("symmetry ", k, ": ", problem);
  }
  return absl::OkStatus();
}

TimeStep ImageOf(const Symmetry& symmetry, const TimeStep& step) {
  TimeStep image = step;
  MapObservation(symmetry, step.observation, absl::MakeSpan(image.observation));
  MapActionValues<uint8_t>(symmetry, step.legal_action_mask,
                           absl::MakeSpan(image.legal_action_mask));
  return image;
}

absl::Status CheckObservations(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  LZ_RETURN_IF_ERROR(CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    return CheckObservation(spec, record.steps[t]);
  }));
  const absl::Status bounds = CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    return CheckObservationBounds(spec.observation, record.steps[t]);
  });
  return bounds.ok() ? bounds : absl::OutOfRangeError(bounds.message());
}

absl::Status CheckFrameStack(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  const int64_t num_blocks = spec.observation.frame_stack;
  const std::ptrdiff_t size = spec.observation.size(), block_size = size / num_blocks;
  return CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    const std::vector<float>& before = record.steps[t == 0 ? 0 : t - 1].observation;
    const std::vector<float>& after = record.steps[t].observation;
    // CheckObservations tells of wrong sizes.
    if (t == 0 || std::ssize(after) != size || std::ssize(before) != size ||
        std::equal(before.begin() + block_size, before.end(), after.begin())) {
      return absl::OkStatus();
    }
    return Broken("the spec says frame_stack ", num_blocks, ", but the first ", num_blocks - 1,
                  " frames of the observation are not the last ", num_blocks - 1,
                  " of the one before");
  });
}

absl::Status CheckMasksAndFlags(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  return CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    if (t == 0) LZ_RETURN_IF_ERROR(CheckReset(record.steps[0]));
    return CheckMaskAndFlags(spec, record.steps[t]);
  });
}

absl::Status CheckStepCaps(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  const int64_t cap = spec.max_episode_steps, longest = spec.longest_episode;
  return CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    if (longest > 0 && static_cast<int64_t>(t) >= longest && !record.steps[t].ended()) {
      return Broken("goes on after ", longest, " steps, its longest_episode");
    }
    if (cap == 0) return absl::OkStatus();
    const bool at_cap = static_cast<int64_t>(t) == cap;
    if (at_cap && !record.steps[t].ended()) return Broken("goes on at the step cap ", cap);
    if (record.steps[t].truncated && !at_cap && !spec.truncates_itself) {
      return Broken("truncated away from the step cap ", cap);
    }
    return absl::OkStatus();
  });
}

absl::Status CheckReturns(absl::Span<const EpisodeRecord> episodes) {
  double sum = 0.0;
  return CheckEach(episodes, [&](const EpisodeRecord& record, size_t t) {
    if (t == 0) {
      sum = 0.0;
      return absl::OkStatus();
    }
    const double reward = record.steps[t].reward, got = record.steps[t].episode_return;
    sum += record.steps[t - 1].to_play == 0 ? reward : -reward;
    if (std::fabs(got - sum) <= 1e-6 * std::fmax(1.0, std::fabs(sum))) return absl::OkStatus();
    return Broken("episode_return is ", got, ", the rewards sum to ", sum);
  });
}

std::vector<Action> BadActionsFor(const EnvSpec& spec, const TimeStep& step) {
  if (spec.action.kind == ActionKind::kBox) return BadBoxActions(spec.action);
  std::vector<Action> bad;
  for (const int32_t index : {-1, spec.action.num_actions, std::numeric_limits<int32_t>::min(),
                              std::numeric_limits<int32_t>::max()}) {
    bad.push_back(Action::Discrete(index));
  }
  bad.push_back({0, {std::numeric_limits<float>::quiet_NaN()}});
  const auto num_actions = static_cast<int32_t>(step.legal_action_mask.size());
  const int32_t stride = 1 + num_actions / 500;
  for (int32_t index = 0; index < num_actions; index += stride) {
    if (step.legal_action_mask[index] == 0) bad.push_back(Action::Discrete(index));
  }
  return bad;
}

absl::Status CheckChanceOutcomes(const EnvFactory& factory, const EnvSpec& spec,
                                 absl::Span<const EpisodeRecord> episodes) {
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, factory());
  if (spec.num_chance_outcomes > 0) {
    for (const EpisodeRecord& record : episodes) LZ_RETURN_IF_ERROR(FollowOutcomes(*env, record));
    return absl::OkStatus();
  }
  LZ_RETURN_IF_ERROR(CheckEach(episodes, [](const EpisodeRecord& record, size_t t) {
    const bool none = record.steps[t].chance_outcome == -1;
    return none ? absl::OkStatus() : Broken("a chance outcome, and the spec says there are none");
  }));
  env->Reset(0);
  const bool none = absl::IsUnimplemented(env->ChanceOutcomes({}).status()) &&
                    absl::IsUnimplemented(env->StepWithOutcome({}, 0).status());
  return none ? absl::OkStatus() : Broken("chance outcomes that the spec does not announce");
}

absl::Status CheckClipping(const EnvFactory& factory, const EnvSpec& spec,
                           absl::Span<const EpisodeRecord> episodes) {
  if (spec.action.kind != ActionKind::kBox) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> at_bound, factory());
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> beyond, factory());
  for (const EpisodeRecord& record : episodes) {
    if (record.actions.empty()) continue;
    for (const auto& [bound, over] : BoundsAndBeyond(spec.action, record.actions[0])) {
      at_bound->Reset(record.seed);
      beyond->Reset(record.seed);
      LZ_ASSIGN_OR_RETURN(const TimeStep expected, at_bound->Step(bound));
      absl::StatusOr<TimeStep> got = beyond->Step(over);
      LZ_RETURN_IF_ERROR(At(record, 1, got.status()));
      // A reward may count the action as it was given.
      got->reward = expected.reward;
      got->episode_return = expected.episode_return;
      ForgiveRounding(expected.observation, got->observation);
      LZ_RETURN_IF_ERROR(CheckSame(record, 1, got, expected, "an action beyond its bound: "));
    }
  }
  return absl::OkStatus();
}

}  // namespace lzero
