#include "lzero/env/episode_env.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

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
    if (!std::isfinite(value) || value < box.low[i] || value > box.high[i]) {
      return absl::InvalidArgumentError(absl::StrCat("action[", i, "] is ", value, "; '", spec.id,
                                                     "' takes ", box.low[i], " .. ", box.high[i]));
    }
  }
  return absl::OkStatus();
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
    std::vector<int> legal;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0) legal.push_back(static_cast<int>(i));
    }
    std::string list;
    for (const int index : legal) absl::StrAppend(&list, list.empty() ? "" : " ", index);
    return absl::InvalidArgumentError(absl::StrCat("action ", action.index, " is illegal here; '",
                                                   spec.id, "' takes now: ", list));
  }
  return absl::OkStatus();
}

EpisodeEnv::EpisodeEnv(EnvSpec spec) : spec_(std::move(spec)) {}

TimeStep EpisodeEnv::Reset(uint64_t seed) {
  StartGame(seed);
  progress_ = {Phase::kRunning, 0, 0.0};
  return MakeTimeStep({}, false);
}

absl::StatusOr<TimeStep> EpisodeEnv::Step(const Action& action) {
  if (progress_.phase != Phase::kRunning) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot step '", spec_.id, "': ",
        progress_.phase == Phase::kEnded ? "the episode has ended" : "no episode was started",
        "; call Reset first"));
  }
  if (spec_.action.kind == ActionKind::kBox) {
    LZ_RETURN_IF_ERROR(CheckAction(spec_, action, {}));
  } else {
    LZ_RETURN_IF_ERROR(CheckAction(spec_, action, LegalMask()));
  }
  const int mover = ToPlay();
  const Outcome outcome = Advance(action);
  ++progress_.num_steps;
  progress_.episode_return += mover == 0 ? outcome.reward : -outcome.reward;
  const bool truncated =
      spec_.max_episode_steps > 0 && progress_.num_steps >= spec_.max_episode_steps;
  if (outcome.terminated || truncated) progress_.phase = Phase::kEnded;
  return MakeTimeStep(outcome, truncated);
}

std::vector<uint8_t> EpisodeEnv::LegalMask() const {
  if (spec_.action.kind == ActionKind::kBox) return {};
  const bool running = progress_.phase == Phase::kRunning;
  std::vector<uint8_t> mask(spec_.action.num_actions, running ? 1 : 0);
  if (running) FillLegalActions(absl::MakeSpan(mask));
  return mask;
}

TimeStep EpisodeEnv::MakeTimeStep(const Outcome& outcome, bool truncated) const {
  TimeStep step;
  step.observation.resize(spec_.observation.size());
  Observe(absl::MakeSpan(step.observation));
  step.legal_action_mask = LegalMask();
  step.to_play = ToPlay();
  step.reward = outcome.reward;
  step.terminated = outcome.terminated;
  step.truncated = truncated;
  step.episode_return = progress_.episode_return;
  return step;
}

absl::StatusOr<std::string> EpisodeEnv::Save() const {
  if (!spec_.can_save) return Env::Save();
  StateWriter writer(spec_.id);
  writer.Write(static_cast<uint8_t>(progress_.phase));
  writer.Write(progress_.num_steps);
  writer.Write(progress_.episode_return);
  if (progress_.phase != Phase::kNotStarted) SaveGame(writer);
  if (writer.is_refused()) return Missing(spec_, "can_save", "SaveGame");
  return writer.Take();
}

absl::Status EpisodeEnv::Load(const std::string& state) {
  if (!spec_.can_save) return Env::Load(state);
  StateReader reader(spec_.id, state);
  Progress progress;
  const uint8_t phase = reader.Read<uint8_t>();
  progress.phase = static_cast<Phase>(phase);
  progress.num_steps = reader.Read<int64_t>();
  progress.episode_return = reader.Read<double>();
  if (phase > static_cast<uint8_t>(Phase::kEnded) || progress.num_steps < 0) {
    LZ_RETURN_IF_ERROR(reader.Finish());
    return reader.Impossible(absl::StrCat("phase ", phase, ", step ", progress.num_steps));
  }
  if (progress.phase == Phase::kNotStarted) {
    LZ_RETURN_IF_ERROR(reader.Finish());
  } else {
    LZ_RETURN_IF_ERROR(LoadGame(reader));
  }
  progress_ = progress;
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
  return absl::OkStatus();
}

void EpisodeEnv::FillLegalActions(absl::Span<uint8_t>) const {}

void EpisodeEnv::SaveGame(StateWriter& writer) const { writer.Refuse(); }

absl::Status EpisodeEnv::LoadGame(StateReader&) { return Missing(spec_, "can_save", "LoadGame"); }

std::vector<double> EpisodeEnv::GetPhysics() const { return {}; }

absl::Status EpisodeEnv::SetPhysics(const std::vector<double>&) {
  return Missing(spec_, "can_set_state", "SetPhysics");
}

}  // namespace lzero
