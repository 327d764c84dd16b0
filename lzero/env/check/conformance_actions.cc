#include "lzero/env/check/conformance_actions.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/conformance_rules.h"

namespace lzero {
namespace {

absl::Status CheckList(const EnvSpec& spec, const std::vector<ChanceOutcome>& chances,
                       int32_t drawn) {
  double sum = 0.0;
  std::set<int32_t> indices;
  for (const ChanceOutcome& chance : chances) {
    if (chance.index < 0 || chance.index >= spec.num_chance_outcomes) {
      return Broken(
          absl::StrCat("chance outcome ", chance.index, " of ", spec.num_chance_outcomes));
    }
    if (!indices.insert(chance.index).second) {
      return Broken(absl::StrCat("chance outcome ", chance.index, " is listed twice"));
    }
    if (!(chance.probability > 0.0)) {
      return Broken(
          absl::StrCat("chance outcome ", chance.index, " has probability ", chance.probability));
    }
    sum += chance.probability;
  }
  if (std::fabs(sum - 1.0) > 1e-9) return Broken(absl::StrCat("probabilities sum to ", sum));
  if (indices.count(drawn) > 0) return absl::OkStatus();
  return Broken(absl::StrCat("the step drew outcome ", drawn, ", which is not listed"));
}

// Plays the record with its own outcomes given, and tries one that cannot happen before each step.
absl::Status FollowOutcomes(Env& env, const EpisodeRecord& record) {
  env.Reset(record.seed);
  for (size_t t = 0; t < record.actions.size(); ++t) {
    const int32_t drawn = record.steps[t + 1].chance_outcome;
    const auto chances = env.ChanceOutcomes(record.actions[t]);
    if (!chances.ok()) return BrokenAt(record, t, chances.status().message());
    const absl::Status list = CheckList(env.spec(), *chances, drawn);
    if (!list.ok()) return BrokenAt(record, t, list.message());
    const int32_t beyond = env.spec().num_chance_outcomes;
    if (env.StepWithOutcome(record.actions[t], beyond).status().code() !=
        absl::StatusCode::kInvalidArgument) {
      return BrokenAt(record, t, absl::StrCat("chance outcome ", beyond, " is not refused"));
    }
    const auto step = env.StepWithOutcome(record.actions[t], drawn);
    if (!step.ok()) return BrokenAt(record, t + 1, step.status().message());
    const std::string difference = TimeStepDifference(*step, record.steps[t + 1]);
    if (!difference.empty()) {
      return BrokenAt(record, t + 1, absl::StrCat("played with its outcome: ", difference));
    }
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

absl::Status CheckChanceOutcomes(const ConformanceFactory& factory, const EnvSpec& spec,
                                 absl::Span<const EpisodeRecord> episodes) {
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, factory());
  if (spec.num_chance_outcomes == 0) {
    for (const EpisodeRecord& record : episodes) {
      for (size_t t = 0; t < record.steps.size(); ++t) {
        if (record.steps[t].chance_outcome == -1) continue;
        return BrokenAt(record, t, "a chance outcome, and the spec says there are none");
      }
    }
    env->Reset(0);
    const Action action;
    const bool none = absl::IsUnimplemented(env->ChanceOutcomes(action).status()) &&
                      absl::IsUnimplemented(env->StepWithOutcome(action, 0).status());
    return none ? absl::OkStatus() : Broken("chance outcomes that the spec does not announce");
  }
  for (const EpisodeRecord& record : episodes) LZ_RETURN_IF_ERROR(FollowOutcomes(*env, record));
  return absl::OkStatus();
}

absl::Status CheckClipping(const ConformanceFactory& factory, const EnvSpec& spec,
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
      if (!got.ok()) return BrokenAt(record, 1, got.status().message());
      // A reward may count the action as it was given.
      got->reward = expected.reward;
      got->episode_return = expected.episode_return;
      ForgiveRounding(expected.observation, got->observation);
      const std::string difference = TimeStepDifference(*got, expected);
      if (!difference.empty()) {
        return BrokenAt(record, 1, absl::StrCat("an action beyond its bound: ", difference));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace lzero
