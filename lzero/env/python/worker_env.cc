#include "lzero/env/python/worker_env.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero {

WorkerEnv::WorkerEnv(std::shared_ptr<WorkerGroup> group, int slot, const std::string& id,
                     int64_t max_episode_steps)
    : group_(std::move(group)), slot_(slot), view_(group_->MakeView()) {
  spec_.id = id;
  spec_.observation = view_->observation();
  spec_.action = group_->spec().action;
  spec_.max_episode_steps = max_episode_steps > 0 ? max_episode_steps : view_->max_episode_steps();
  spec_.deterministic = false;  // not known
  spec_.truncates_itself = true;
}

TimeStep WorkerEnv::MakeTimeStep() const {
  TimeStep step;
  step.observation.resize(static_cast<size_t>(spec_.observation.size()));
  view_->Observe(absl::MakeSpan(step.observation));
  step.legal_action_mask = mask_;
  if (phase_ == Phase::kEnded)
    std::fill(step.legal_action_mask.begin(), step.legal_action_mask.end(), 0);
  step.episode_return = episode_return_;
  return step;
}

void WorkerEnv::TakeMask(const WorkerResult& result) {
  if (result.has_mask) {
    mask_.assign(result.mask.begin(), result.mask.end());
  } else if (spec_.action.kind == ActionKind::kDiscrete) {
    mask_.assign(static_cast<size_t>(spec_.action.num_actions), 1);
  }
}

TimeStep WorkerEnv::Reset(uint64_t seed) {
  num_steps_ = 0;
  episode_return_ = 0.0;
  phase_ = Phase::kRunning;
  TakeMask({});
  if (is_lost()) view_->Forget();
  reset_error_ = group_->Reset(slot_, seed, *view_);
  generation_ = group_->generations_[slot_];
  if (reset_error_.ok() && !group_->masks_[slot_].empty()) mask_ = group_->masks_[slot_];
  return MakeTimeStep();
}

absl::Status WorkerEnv::Check(const Action& action) const {
  if (phase_ != Phase::kRunning) {
    return NoEpisodeError(spec_, phase_ == Phase::kEnded);
  }
  LZ_RETURN_IF_ERROR(reset_error_);
  return CheckAction(spec_, action, mask_);
}

void WorkerEnv::Ask(WorkerMemory& memory, const Action& action) {
  if (spec_.action.kind == ActionKind::kDiscrete) {
    memory.AskStep(slot_, view_->Repeats(action.index));
    return;
  }
  std::vector<float> clipped;
  for (size_t i = 0; i < action.values.size(); ++i) {
    clipped.push_back(std::clamp(action.values[i], spec_.action.low[i], spec_.action.high[i]));
  }
  memory.AskStep(slot_, clipped);
}

absl::StatusOr<TimeStep> WorkerEnv::Absorb(const absl::StatusOr<WorkerResult>& result) {
  absl::StatusOr<ViewedStep> next =
      result.ok() ? view_->Next(*result) : absl::StatusOr<ViewedStep>(result.status());
  LZ_RETURN_IF_ERROR(
      Annotate(next.status(), absl::StrCat("environment '", spec_.id, "', step ", num_steps_ + 1)));
  const ViewedStep viewed = *std::move(next);
  ++num_steps_;
  const float reward = static_cast<float>(viewed.reward);
  episode_return_ += reward;
  TakeMask(*result);
  const bool at_cap = spec_.max_episode_steps > 0 && num_steps_ >= spec_.max_episode_steps;
  const bool truncated = viewed.truncated || at_cap;
  if (viewed.terminated || truncated) phase_ = Phase::kEnded;
  TimeStep step = MakeTimeStep();
  step.reward = reward;
  step.terminated = viewed.terminated;
  step.truncated = truncated;
  return step;
}

TimeStep WorkerEnv::Interrupt() {
  phase_ = Phase::kEnded;
  TimeStep step = MakeTimeStep();
  step.truncated = true;
  step.interrupted = true;
  return step;
}

absl::StatusOr<TimeStep> WorkerEnv::Step(const Action& action) {
  Env* const self = this;
  absl::StatusOr<TimeStep> result = absl::UnknownError("not stepped");
  group_->Begin({&self, 1}, {&action, 1});
  group_->Finish({&result, 1});
  return result;
}

absl::StatusOr<Image> WorkerEnv::RenderRgb() const {
  if (phase_ == Phase::kNotStarted || is_lost() || !reset_error_.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", spec_.id, "' has nothing to draw; call Reset first"));
  }
  return group_->Render(slot_);
}

}  // namespace lzero
