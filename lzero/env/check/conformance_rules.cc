#include "lzero/env/check/conformance_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status CheckBounds(absl::string_view name, const std::vector<float>& low,
                         const std::vector<float>& high, int64_t size, bool one_for_all) {
  const int64_t count = static_cast<int64_t>(low.size());
  const bool fits = count == size || (one_for_all && count == 1);
  if (!fits || low.size() != high.size()) {
    return Broken(absl::StrCat(name, " has ", low.size(), " low and ", high.size(),
                               " high bounds for ", size, " elements"));
  }
  for (size_t i = 0; i < low.size(); ++i) {
    if (!(low[i] <= high[i])) {
      return Broken(absl::StrCat(name, " bound ", i, " is ", low[i], " .. ", high[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckObservation(const EnvSpec& spec, const TimeStep& step) {
  const ObservationSpec& space = spec.observation;
  if (static_cast<int64_t>(step.observation.size()) != space.size()) {
    return Broken(absl::StrCat("the observation has ", step.observation.size(),
                               " elements, the spec says ", space.size()));
  }
  for (size_t i = 0; i < step.observation.size(); ++i) {
    const float low = space.low[space.low.size() == 1 ? 0 : i];
    const float high = space.high[space.high.size() == 1 ? 0 : i];
    const float value = step.observation[i];
    if (!std::isfinite(value) || value < low || value > high) {
      return Broken(
          absl::StrCat("observation[", i, "] is ", value, ", outside ", low, " .. ", high));
    }
  }
  if (space.type == ObservationType::kUint8) {
    std::vector<uint8_t> bytes(step.observation.size());
    const int64_t wrong = FractionsToBytes(step.observation, bytes.data());
    if (wrong >= 0) {
      return Broken(absl::StrCat("observation[", wrong, "] is ", step.observation[wrong],
                                 ", but the spec says uint8: k / 255, k of 0 to 255"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaskAndFlags(const EnvSpec& spec, const TimeStep& step) {
  const std::vector<uint8_t>& mask = step.legal_action_mask;
  const bool discrete = spec.action.kind == ActionKind::kDiscrete;
  if (discrete && static_cast<int>(mask.size()) != spec.action.num_actions) {
    return Broken(absl::StrCat("the mask has ", mask.size(), " elements for ",
                               spec.action.num_actions, " actions"));
  }
  if (std::any_of(mask.begin(), mask.end(), [](uint8_t legal) { return legal > 1; })) {
    return Broken("the mask holds something else than 0 and 1");
  }
  const auto num_legal = std::count(mask.begin(), mask.end(), 1);
  if (step.ended() && num_legal > 0) {
    return Broken(absl::StrCat(num_legal, " actions are legal after the end"));
  }
  if (discrete && !step.ended() && num_legal == 0) return Broken("no action is legal");
  if (step.to_play < 0 || step.to_play >= spec.num_players) {
    return Broken(absl::StrCat("to_play is ", step.to_play, " of ", spec.num_players, " players"));
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

std::vector<Action> BadBoxActions(const ActionSpec& box) {
  std::vector<float> inside;
  for (size_t i = 0; i < box.low.size(); ++i) {
    inside.push_back(std::clamp(0.0f, box.low[i], box.high[i]));
  }
  std::vector<float> first = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity()};
  std::vector<Action> bad;
  for (const float value : first) {
    bad.push_back({0, inside});
    bad.back().values[0] = value;
  }
  bad.push_back({0, {}});
  bad.push_back({0, inside});
  bad.back().values.push_back(0.0f);
  return bad;
}

}  // namespace

absl::Status Broken(absl::string_view what) { return absl::InternalError(what); }

absl::Status BrokenAt(const EpisodeRecord& record, size_t t, absl::string_view what) {
  return Broken(absl::StrCat("seed ", record.seed, ", step ", t, ": ", what));
}

absl::Status CheckSpec(const EnvSpec& spec) {
  // The game.
  if (spec.id.empty()) return Broken("the id is empty");
  if (spec.num_players < 1) return Broken(absl::StrCat("num_players is ", spec.num_players));
  if (spec.num_chance_outcomes < 0 || (spec.num_chance_outcomes > 0 && spec.deterministic)) {
    return Broken(absl::StrCat("num_chance_outcomes is ", spec.num_chance_outcomes,
                               spec.deterministic ? " in a deterministic environment" : ""));
  }
  if (spec.max_episode_steps < 0) {
    return Broken(absl::StrCat("max_episode_steps is ", spec.max_episode_steps));
  }
  // Observations.
  for (const int64_t length : spec.observation.shape) {
    if (length < 1) return Broken(absl::StrCat("the observation has an axis of length ", length));
  }
  const int64_t num_blocks = spec.observation.frame_stack;
  if (num_blocks < 1 || spec.observation.size() % num_blocks != 0) {
    return Broken(absl::StrCat("frame_stack is ", num_blocks, ", no divisor of the observation's ",
                               spec.observation.size(), " elements"));
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
  if (spec.action.num_actions < 1) {
    return Broken(absl::StrCat("num_actions is ", spec.action.num_actions));
  }
  for (size_t k = 0; k < spec.symmetries.size(); ++k) {
    const std::string problem = SymmetryProblem(spec.symmetries[k], spec.observation.size(),
                                                spec.action.num_actions, spec.num_chance_outcomes);
    if (!problem.empty()) return Broken(absl::StrCat("symmetry ", k, ": ", problem));
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
  for (const EpisodeRecord& record : episodes) {
    for (size_t t = 0; t < record.steps.size(); ++t) {
      const absl::Status status = CheckObservation(spec, record.steps[t]);
      if (!status.ok()) return BrokenAt(record, t, status.message());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFrameStack(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  const int64_t num_blocks = spec.observation.frame_stack;
  const std::ptrdiff_t size = spec.observation.size(), block_size = size / num_blocks;
  for (const EpisodeRecord& record : episodes) {
    for (size_t t = 1; t < record.steps.size(); ++t) {
      const std::vector<float>& before = record.steps[t - 1].observation;
      const std::vector<float>& after = record.steps[t].observation;
      if (static_cast<std::ptrdiff_t>(after.size()) != size || before.size() != after.size()) {
        break;  // CheckObservations says so
      }
      if (!std::equal(before.begin() + block_size, before.end(), after.begin())) {
        return BrokenAt(record, t,
                        absl::StrCat("the spec says frame_stack ", num_blocks, ", but the first ",
                                     num_blocks - 1, " frames of the observation are not the last ",
                                     num_blocks - 1, " of the one before"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMasksAndFlags(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  for (const EpisodeRecord& record : episodes) {
    const absl::Status start = CheckReset(record.steps[0]);
    if (!start.ok()) return BrokenAt(record, 0, start.message());
    for (size_t t = 0; t < record.steps.size(); ++t) {
      const absl::Status status = CheckMaskAndFlags(spec, record.steps[t]);
      if (!status.ok()) return BrokenAt(record, t, status.message());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStepCaps(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes) {
  const int64_t cap = spec.max_episode_steps;
  if (cap == 0) return absl::OkStatus();
  for (const EpisodeRecord& record : episodes) {
    for (size_t t = 0; t < record.steps.size(); ++t) {
      const bool at_cap = static_cast<int64_t>(t) == cap;
      if (at_cap && !record.steps[t].ended()) {
        return BrokenAt(record, t, absl::StrCat("goes on at the step cap ", cap));
      }
      if (record.steps[t].truncated && !at_cap && !spec.truncates_itself) {
        return BrokenAt(record, t, absl::StrCat("truncated away from the step cap ", cap));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReturns(absl::Span<const EpisodeRecord> episodes) {
  for (const EpisodeRecord& record : episodes) {
    double sum = 0.0;
    for (size_t t = 1; t < record.steps.size(); ++t) {
      const double reward = record.steps[t].reward;
      sum += record.steps[t - 1].to_play == 0 ? reward : -reward;
      const double got = record.steps[t].episode_return;
      if (!(std::fabs(got - sum) <= 1e-6 * std::fmax(1.0, std::fabs(sum)))) {
        return BrokenAt(record, t,
                        absl::StrCat("episode_return is ", got, ", the rewards sum to ", sum));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<Action> BadActionsFor(const EnvSpec& spec, const TimeStep& step) {
  if (spec.action.kind == ActionKind::kBox) return BadBoxActions(spec.action);
  std::vector<Action> bad;
  for (const int32_t index : {-1, spec.action.num_actions, std::numeric_limits<int32_t>::min(),
                              std::numeric_limits<int32_t>::max()}) {
    bad.push_back(Action::Discrete(index));
  }
  bad.push_back({0, {std::numeric_limits<float>::quiet_NaN()}});
  for (int32_t index = 0; index < static_cast<int32_t>(step.legal_action_mask.size()); ++index) {
    if (step.legal_action_mask[index] == 0) bad.push_back(Action::Discrete(index));
  }
  return bad;
}

}  // namespace lzero
