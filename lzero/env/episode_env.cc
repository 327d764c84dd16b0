#include "lzero/env/episode_env.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/thrown.h"

namespace lzero {
namespace {

absl::Status CheckBoxAction(const EnvSpec& spec, const Action& action) {
  const ActionSpec& box = spec.action;
  if (action.values.size() != box.low.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action has ", action.values.size(), " values; '", spec.id, "' takes ", box.low.size()));
  }
  for (size_t i = 0; i < box.low.size(); ++i) {
    const float value = action.values[i];
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat("action[", i, "] is ", value, "; '", spec.id,
                                                     "' takes a number, ", box.low[i], " .. ",
                                                     box.high[i], " (clipped beyond)"));
    }
  }
  return absl::OkStatus();
}

// "0 1 2"; of long lists the beginning and the length.
std::string LegalActionsText(absl::Span<const uint8_t> mask) {
  constexpr int kMaxListed = 24;
  std::string text;
  int num_legal = 0;
  for (size_t action = 0; action < mask.size(); ++action) {
    if (mask[action] == 0) continue;
    if (++num_legal <= kMaxListed) absl::StrAppend(&text, text.empty() ? "" : " ", action);
  }
  if (num_legal > kMaxListed) absl::StrAppend(&text, " ... (", num_legal, " in all)");
  return text;
}

absl::Status Missing(const EnvSpec& spec, absl::string_view promise, absl::string_view function) {
  return absl::UnimplementedError(
      absl::StrCat("'", spec.id, "' says ", promise, " and has no ", function));
}

}  // namespace

absl::Status CheckAction(const EnvSpec& spec, const Action& action,
                         absl::Span<const uint8_t> mask) {
  if (spec.action.kind == ActionKind::kBox) return CheckBoxAction(spec, action);
  if (!action.values.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("action is a list of ", action.values.size(),
                                                   " values; '", spec.id, "' takes one integer"));
  }
  if (action.index < 0 || action.index >= spec.action.num_actions) {
    return absl::InvalidArgumentError(absl::StrCat("action ", action.index, " is out of range; '",
                                                   spec.id, "' takes 0 .. ",
                                                   spec.action.num_actions - 1));
  }
  if (!mask.empty() && mask[action.index] == 0) {
    const std::string list = LegalActionsText(mask);
    return absl::InvalidArgumentError(absl::StrCat("action ", action.index, " is illegal here; '",
                                                   spec.id, "' takes now: ", list));
  }
  return absl::OkStatus();
}

absl::Status NoEpisodeError(const EnvSpec& spec, bool has_ended) {
  return absl::FailedPreconditionError(absl::StrCat(
      "cannot step '", spec.id,
      "': ", has_ended ? "the episode has ended" : "no episode was started", "; call Reset first"));
}

EpisodeEnv::EpisodeEnv(EnvSpec spec) : spec_(std::move(spec)) {}

TimeStep EpisodeEnv::Reset(uint64_t seed) {
  TimeStep first;
  const auto thrown = WhatItThrows([&] {
    StartGame(seed);
    progress_ = {Phase::kRunning, 0, 0.0};
    first = MakeTimeStep({}, false);
  });
  failure_ = thrown.has_value() ? ThrownError(*thrown) : absl::OkStatus();
  if (failure_.ok()) return first;
  // A position that promises nothing; the next step tells why.
  first.observation.assign(spec_.observation.size(), 0.0f);
  first.legal_action_mask.assign(std::max(spec_.action.num_actions, 0), 1);
  return first;
}

absl::Status EpisodeEnv::ThrownError(const std::string& what) const {
  return absl::InternalError(absl::StrCat("environment '", spec_.id, "' threw ",
                                          EscapedForMessage(what),
                                          "; allowed: no exception; return an absl::Status"));
}

absl::StatusOr<TimeStep> EpisodeEnv::Play(absl::FunctionRef<Outcome()> advance) {
  TimeStep next;
  const auto thrown = WhatItThrows([&] {
    const int mover = ToPlay();
    next = Finish(mover, advance());
  });
  if (thrown.has_value()) return ThrownError(*thrown);
  return next;
}

absl::Status EpisodeEnv::CheckStep(const Action& action) const {
  LZ_RETURN_IF_ERROR(failure_);
  if (progress_.phase != Phase::kRunning) {
    return NoEpisodeError(spec_, progress_.phase == Phase::kEnded);
  }
  return CheckAction(spec_, action, mask_);
}

absl::StatusOr<TimeStep> EpisodeEnv::Step(const Action& action) {
  LZ_RETURN_IF_ERROR(CheckStep(action));
  return Play([&] { return Advance(action); });
}

absl::StatusOr<std::vector<ChanceOutcome>> EpisodeEnv::ChanceOutcomes(const Action& action) const {
  if (spec_.num_chance_outcomes == 0) return Env::ChanceOutcomes(action);
  LZ_RETURN_IF_ERROR(CheckStep(action));
  std::vector<ChanceOutcome> chances = GameChances(action);
  if (chances.empty()) return Missing(spec_, "num_chance_outcomes", "GameChances");
  return chances;
}

absl::StatusOr<TimeStep> EpisodeEnv::StepWithOutcome(const Action& action, int32_t outcome) {
  if (spec_.num_chance_outcomes == 0) return Env::StepWithOutcome(action, outcome);
  LZ_ASSIGN_OR_RETURN(const std::vector<ChanceOutcome> chances, ChanceOutcomes(action));
  const bool possible =
      std::any_of(chances.begin(), chances.end(),
                  [outcome](const ChanceOutcome& chance) { return chance.index == outcome; });
  if (!possible) {
    return absl::InvalidArgumentError(absl::StrCat("chance outcome ", outcome,
                                                   " cannot happen here; '", spec_.id, "' has ",
                                                   chances.size(), " possible ones now"));
  }
  return Play([&] { return AdvanceWith(action, outcome); });
}

TimeStep EpisodeEnv::Finish(int mover, const Outcome& outcome) {
  ++progress_.num_steps;
  progress_.episode_return += mover == 0 ? outcome.reward : -outcome.reward;
  const bool truncated =
      spec_.max_episode_steps > 0 && progress_.num_steps >= spec_.max_episode_steps;
  if (outcome.terminated || truncated) progress_.phase = Phase::kEnded;
  return MakeTimeStep(outcome, truncated);
}

void EpisodeEnv::UpdateMask() {
  if (spec_.action.kind == ActionKind::kBox) return;
  const bool running = progress_.phase == Phase::kRunning;
  mask_.assign(spec_.action.num_actions, running ? 1 : 0);
  if (running) FillLegalActions(absl::MakeSpan(mask_));
}

TimeStep EpisodeEnv::MakeTimeStep(const Outcome& outcome, bool truncated) {
  UpdateMask();
  TimeStep step;
  step.observation.resize(spec_.observation.size());
  Observe(absl::MakeSpan(step.observation));
  step.legal_action_mask = mask_;
  step.to_play = ToPlay();
  step.reward = outcome.reward;
  step.terminated = outcome.terminated;
  step.truncated = truncated;
  step.chance_outcome = outcome.chance_outcome;
  step.episode_return = progress_.episode_return;
  return step;
}

void EpisodeEnv::WriteProgress(const Progress& progress, StateWriter& writer) {
  writer.Write(static_cast<uint8_t>(progress.phase));
  writer.Write(progress.num_steps);
  writer.Write(progress.episode_return);
}

std::string EpisodeEnv::RunningState(absl::string_view id,
                                     absl::FunctionRef<void(StateWriter&)> save_game) {
  StateWriter writer(id);
  WriteProgress({Phase::kRunning, 0, 0.0}, writer);
  save_game(writer);
  return writer.Take();
}

absl::StatusOr<std::string> EpisodeEnv::Save() const {
  if (!spec_.can_save) return Env::Save();
  StateWriter writer(spec_.id);
  WriteProgress(progress_, writer);
  if (progress_.phase != Phase::kNotStarted) SaveGame(writer);
  if (writer.is_refused()) return Missing(spec_, "can_save", "SaveGame");
  return writer.Take();
}

absl::Status EpisodeEnv::Load(const std::string& state) {
  if (!spec_.can_save) return Env::Load(state);
  StateReader reader(spec_.id, state);
  const uint8_t phase = reader.Read<uint8_t>();
  const Progress progress = {static_cast<Phase>(phase), reader.Read<int64_t>(),
                             reader.Read<double>()};
  const bool is_possible = phase <= static_cast<uint8_t>(Phase::kEnded) && progress.num_steps >= 0;
  if (is_possible && progress.phase != Phase::kNotStarted) {
    LZ_RETURN_IF_ERROR(LoadGame(reader));
  } else {
    LZ_RETURN_IF_ERROR(reader.Finish());
  }
  if (!is_possible) {
    return reader.Impossible(absl::StrCat("phase ", phase, ", step ", progress.num_steps));
  }
  progress_ = progress;
  UpdateMask();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> EpisodeEnv::GetState() const {
  if (!spec_.can_set_state) return Env::GetState();
  if (progress_.phase == Phase::kNotStarted) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", spec_.id, "' has no state yet; call Reset first"));
  }
  std::vector<double> state = GetPhysics();
  if (state.empty()) return Missing(spec_, "can_set_state", "GetPhysics");
  return state;
}

absl::Status EpisodeEnv::SetState(const std::vector<double>& state) {
  if (!spec_.can_set_state) return Env::SetState(state);
  LZ_RETURN_IF_ERROR(SetPhysics(state));
  progress_ = {Phase::kRunning, 0, 0.0};
  UpdateMask();
  return absl::OkStatus();
}

float EpisodeEnv::ClippedValue(const Action& action, size_t i) const {
  return std::clamp(action.values[i], spec_.action.low[i], spec_.action.high[i]);
}

absl::Status EpisodeEnv::LoadGame(StateReader&) { return Missing(spec_, "can_save", "LoadGame"); }

absl::Status EpisodeEnv::SetPhysics(const std::vector<double>&) {
  return Missing(spec_, "can_set_state", "SetPhysics");
}

}  // namespace lzero
