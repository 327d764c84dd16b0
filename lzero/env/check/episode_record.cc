#include "lzero/env/check/episode_record.h"

#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/trace.h"

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
bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

std::string Differs(absl::string_view field, absl::string_view got, absl::string_view expected) {
  return absl::StrCat(field, " is ", got, ", expected ", expected);
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

absl::Status InterruptedError(uint64_t seed, size_t t) {
  return absl::UnavailableError(absl::StrCat(
      "seed ", seed, ", step ", t, ": the environment failed, as the warning before this says"));
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
  if (got.observation.size() != expected.observation.size()) {
    return Differs("size of the observation", absl::StrCat(got.observation.size()),
                   absl::StrCat(expected.observation.size()));
  }
  for (size_t i = 0; i < got.observation.size(); ++i) {
    if (!SameBits(got.observation[i], expected.observation[i])) {
      return Differs(absl::StrCat("observation[", i, "]"), ExactNumber(got.observation[i]),
                     ExactNumber(expected.observation[i]));
    }
  }
  if (got.legal_action_mask != expected.legal_action_mask) return "legal_action_mask differs";
  if (got.to_play != expected.to_play) {
    return Differs("to_play", absl::StrCat(got.to_play), absl::StrCat(expected.to_play));
  }
  if (!SameBits(got.reward, expected.reward)) {
    return Differs("reward", ExactNumber(got.reward), ExactNumber(expected.reward));
  }
  if (got.terminated != expected.terminated) {
    return Differs("terminated", absl::StrCat(got.terminated), absl::StrCat(expected.terminated));
  }
  if (got.truncated != expected.truncated) {
    return Differs("truncated", absl::StrCat(got.truncated), absl::StrCat(expected.truncated));
  }
  if (got.chance_outcome != expected.chance_outcome) {
    return Differs("chance_outcome", absl::StrCat(got.chance_outcome),
                   absl::StrCat(expected.chance_outcome));
  }
  if (std::bit_cast<uint64_t>(got.episode_return) !=
      std::bit_cast<uint64_t>(expected.episode_return)) {
    return Differs("episode_return", ExactNumber(got.episode_return),
                   ExactNumber(expected.episode_return));
  }
  return "";
}

}  // namespace lzero
