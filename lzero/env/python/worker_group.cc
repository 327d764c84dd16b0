#include "lzero/env/python/worker_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr size_t kMaxIdle = 4;

}  // namespace

// The Env interface of a slot, with step cap, legal actions and returns kept on this side. Beyond
// its bounds a box action is clipped before Python sees it. Cannot save its state.
class WorkerEnv : public Env {
 public:
  WorkerEnv(std::shared_ptr<WorkerGroup> group, int slot, const std::string& id,
            int64_t max_episode_steps)
      : group_(std::move(group)),
        slot_(slot),
        view_(*group_->options_.make_view(group_->spec_)),  // checked when the group was made
        generation_(group_->generation_) {
    spec_.id = id;
    spec_.observation = view_->observation();
    spec_.action = group_->spec_.action;
    spec_.max_episode_steps =
        max_episode_steps > 0 ? max_episode_steps : view_->max_episode_steps();
    spec_.deterministic = false;  // not known
    spec_.truncates_itself = true;
  }

  const EnvSpec& spec() const override { return spec_; }
  EnvBatch* batch() override { return group_.get(); }

  TimeStep Reset(uint64_t seed) override {
    num_steps_ = 0;
    episode_return_ = 0.0;
    phase_ = Phase::kRunning;
    TakeMask({});
    if (is_lost()) view_->Forget();
    reset_error_ = group_->Reset(*this, seed);
    generation_ = group_->generation_;
    if (reset_error_.ok() && !reset_mask_.empty()) mask_ = reset_mask_;
    return MakeTimeStep();
  }

  absl::StatusOr<TimeStep> Step(const Action& action) override {
    Env* const self = this;
    absl::StatusOr<TimeStep> result = absl::UnknownError("not stepped");
    group_->Begin({&self, 1}, {&action, 1});
    group_->Finish({&result, 1});
    return result;
  }

  absl::StatusOr<std::string> RenderText() const override {
    if (!group_->spec_.draws_text) return Env::RenderText();
    return group_->Draw(&WorkerProcess::RenderText, *this);
  }
  absl::StatusOr<Image> RenderRgb() const override {
    return group_->Draw(&WorkerProcess::Render, *this);
  }

 private:
  friend class WorkerGroup;

  enum class Phase { kNotStarted, kRunning, kEnded };

  bool is_lost() const { return group_->generation_ != generation_; }
  bool can_draw() const { return phase_ != Phase::kNotStarted && !is_lost() && reset_error_.ok(); }

  // The three parts of a step. Check: FailedPrecondition and InvalidArgument as Env::Step says.
  absl::Status Check(const Action& action) const {
    if (phase_ != Phase::kRunning) return NoEpisodeError(spec_, phase_ == Phase::kEnded);
    LZ_RETURN_IF_ERROR(reset_error_);
    return CheckAction(spec_, action, mask_);
  }

  void Ask(WorkerMemory& memory, const Action& action) {
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

  // An answer that makes no sense is an error: the episode is to be interrupted.
  absl::StatusOr<TimeStep> Absorb(const absl::StatusOr<WorkerResult>& result) {
    const absl::StatusOr<ViewedStep> viewed =
        result.ok() ? view_->Next(*result) : absl::StatusOr<ViewedStep>(result.status());
    LZ_RETURN_IF_ERROR(Annotate(
        viewed.status(), absl::StrCat("environment '", spec_.id, "', step ", num_steps_ + 1)));
    ++num_steps_;
    const float reward = static_cast<float>(viewed->reward);
    episode_return_ += reward;
    TakeMask(*result);
    const bool at_cap = spec_.max_episode_steps > 0 && num_steps_ >= spec_.max_episode_steps;
    const bool truncated = viewed->truncated || at_cap;
    if (viewed->terminated || truncated) phase_ = Phase::kEnded;
    TimeStep step = MakeTimeStep();
    step.reward = reward;
    step.terminated = viewed->terminated;
    step.truncated = truncated;
    return step;
  }

  // The end of an episode that cannot go on.
  TimeStep Interrupt() {
    phase_ = Phase::kEnded;
    TimeStep step = MakeTimeStep();
    step.truncated = true;
    step.interrupted = true;
    return step;
  }

  void TakeMask(const WorkerResult& result) {
    if (result.has_mask) {
      mask_.assign(result.mask.begin(), result.mask.end());
    } else if (spec_.action.kind == ActionKind::kDiscrete) {
      mask_.assign(static_cast<size_t>(spec_.action.num_actions), 1);
    }
  }

  TimeStep MakeTimeStep() const {
    TimeStep step;
    step.observation.resize(static_cast<size_t>(spec_.observation.size()));
    view_->Observe(absl::MakeSpan(step.observation));
    step.legal_action_mask = mask_;
    if (phase_ == Phase::kEnded) step.legal_action_mask.assign(mask_.size(), 0);
    step.episode_return = episode_return_;
    return step;
  }

  const std::shared_ptr<WorkerGroup> group_;
  const int slot_;
  const std::unique_ptr<FrameView> view_;
  EnvSpec spec_;
  Phase phase_ = Phase::kNotStarted;
  absl::Status reset_error_ = absl::OkStatus();
  uint64_t generation_;     // of the process that plays the episode
  uint64_t broken_in_ = 0;  // of the process whose environment failed; 0: it is whole
  int64_t num_steps_ = 0;
  double episode_return_ = 0.0;
  std::vector<uint8_t> mask_;        // [num_actions] while the episode runs; empty for a box
  std::vector<uint8_t> reset_mask_;  // at the last reset of the process; empty: all are legal
};

std::unique_ptr<WorkerProcess> WorkerPool::Take(const WorkerCommand& command) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& process) {
    return process->command() == command;
  });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<WorkerProcess> process = std::move(*found);
  idle_.erase(found);
  return process;
}

void WorkerPool::GiveBack(std::unique_ptr<WorkerProcess> process) {
  std::unique_ptr<WorkerProcess> oldest;  // closed outside the lock: that may take a moment
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() == kMaxIdle) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back(std::move(process));
}

std::string WorkerPool::MessageOf(const absl::Status& failure) {
  const absl::string_view whole = absl::StripTrailingAsciiWhitespace(failure.message());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(last_failure_, std::string(whole)) != whole) return std::string(whole);
  const size_t first_end = whole.find('\n');
  if (first_end == whole.npos) return std::string(whole);
  return absl::StrCat(whole.substr(0, first_end), " ", whole.substr(whole.rfind('\n') + 1),
                      " (again, as told above)");
}

absl::StatusOr<std::shared_ptr<WorkerGroup>> WorkerGroup::Create(Options options, int num_envs,
                                                                 std::shared_ptr<WorkerPool> pool) {
  std::shared_ptr<WorkerGroup> group(
      new WorkerGroup(std::move(options), num_envs, std::move(pool)));
  LZ_RETURN_IF_ERROR(group->OpenProcess());
  return group;
}

std::unique_ptr<Env> WorkerGroup::MakeEnv(std::shared_ptr<WorkerGroup> group, int slot,
                                          const std::string& id, int64_t max_episode_steps) {
  return std::make_unique<WorkerEnv>(std::move(group), slot, id, max_episode_steps);
}

WorkerGroup::WorkerGroup(Options options, int num_envs, std::shared_ptr<WorkerPool> pool)
    : options_(std::move(options)), num_envs_(num_envs), pool_(std::move(pool)) {}

WorkerGroup::~WorkerGroup() {
  // A process that still owes an answer would give it to its next user.
  if (process_ != nullptr && broken_.ok() && !is_begun_) pool_->GiveBack(std::move(process_));
}

absl::Status WorkerGroup::OpenProcess() {
  for (;;) {
    std::unique_ptr<WorkerProcess> process = pool_->Take(options_.command);
    const bool was_idle = process != nullptr;
    if (!was_idle) {
      LZ_ASSIGN_OR_RETURN(process, WorkerProcess::Start(options_.command));
    }
    const absl::Status status = OpenIn(std::move(process));
    // A process that died while nobody used it is found out here; the pool runs dry of those.
    if (!was_idle || !absl::IsUnavailable(status)) return status;
  }
}

absl::Status WorkerGroup::OpenIn(std::unique_ptr<WorkerProcess> process) {
  spec_ = process->spec();
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<FrameView> view, options_.make_view(spec_));
  LZ_RETURN_IF_ERROR(process->Open(num_envs_, view->num_frames(), view->max_repeat()));
  process_ = std::move(process);
  ++generation_;
  return absl::OkStatus();
}

void WorkerGroup::LoseProcess() {
  process_ = nullptr;
  ++generation_;
}

absl::Status WorkerGroup::Count(const absl::Status& what, const WorkerEnv* env) {
  ++num_restarts_;
  const std::string message = pool_->MessageOf(what);
  if (num_restarts_ <= options_.max_restarts) {
    const std::string what_follows =
        process_ == nullptr || env == nullptr
            ? "the process is started again"
            : absl::StrCat("environment ", options_.first_env + env->slot_, " is made again");
    LZ_LOG_WARNING(message, "\n", what_follows, ", ", num_restarts_, " of ", options_.max_restarts,
                   " times in its process (env.max_restarts)");
    return absl::OkStatus();
  }
  broken_ = absl::InternalError(absl::StrCat(message, "\ngiven up after ", options_.max_restarts,
                                             " restarts (env.max_restarts)"));
  return broken_;
}

absl::Status WorkerGroup::FailureOf(int slot) {
  LZ_ASSIGN_OR_RETURN(const std::string traceback, process_->Traceback(slot));
  return absl::InternalError(absl::StrCat("environment '", options_.command.task.Name(),
                                          "' raised an exception:\n", traceback));
}

absl::StatusOr<WorkerResult> WorkerGroup::Answer(int slot) {
  process_->Send();
  LZ_RETURN_IF_ERROR(process_->Wait());
  LZ_ASSIGN_OR_RETURN(const WorkerResult result, process_->memory().Read(slot));
  if (result.failed) return FailureOf(slot);
  return result;
}

absl::Status WorkerGroup::ResetOnce(WorkerEnv& env, uint64_t seed) {
  if (process_ == nullptr) LZ_RETURN_IF_ERROR(OpenProcess());
  WorkerMemory& memory = process_->memory();
  FrameView& view = *env.view_;
  const auto take_first = [&](const WorkerResult& result) {
    return Annotate(view.First(result),
                    absl::StrCat("environment '", options_.command.task.Name(), "', at its reset"));
  };
  const bool remake = env.broken_in_ == generation_;
  if (view.BeginEpisode(seed) || remake) {
    memory.BeginRequest();
    memory.AskReset(env.slot_, seed, remake);
    LZ_ASSIGN_OR_RETURN(const WorkerResult result, Answer(env.slot_));
    env.broken_in_ = 0;
    LZ_RETURN_IF_ERROR(take_first(result));
    env.reset_mask_.clear();
    if (result.has_mask) env.reset_mask_.assign(result.mask.begin(), result.mask.end());
  }
  const std::vector<int32_t> prelude = view.Prelude();
  if (prelude.empty()) return absl::OkStatus();
  memory.BeginRequest();
  memory.AskStep(env.slot_, prelude);
  LZ_ASSIGN_OR_RETURN(WorkerResult result, Answer(env.slot_));
  if (result.terminated || result.truncated) {
    // The prelude ended the episode: begin without it.
    view.Forget();
    view.BeginEpisode(seed);
    memory.BeginRequest();
    memory.AskReset(env.slot_, seed, false);
    LZ_ASSIGN_OR_RETURN(result, Answer(env.slot_));
  }
  return take_first(result);
}

absl::Status WorkerGroup::Reset(WorkerEnv& env, uint64_t seed) {
  LZ_CHECK(!is_begun_, "Reset between Begin and Finish");
  while (broken_.ok()) {
    const absl::Status status = ResetOnce(env, seed);
    if (status.ok()) return status;
    env.broken_in_ = generation_;
    if (process_ != nullptr && !process_->is_running()) LoseProcess();
    env.view_->Forget();
    LZ_RETURN_IF_ERROR(Count(status, &env));
  }
  return broken_;
}

void WorkerGroup::Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) {
  LZ_CHECK(!is_begun_, "Begin twice without Finish");
  is_begun_ = true;
  asked_.clear();
  refused_.clear();
  if (process_ != nullptr) process_->memory().BeginRequest();
  for (size_t i = 0; i < envs.size(); ++i) {
    auto* const env = static_cast<WorkerEnv*>(envs[i]);
    LZ_CHECK(env->group_.get() == this, "an environment of another group");
    asked_.push_back(env);
    refused_.push_back(broken_.ok() ? env->Check(actions[i]) : broken_);
    if (refused_.back().ok() && !env->is_lost()) env->Ask(process_->memory(), actions[i]);
  }
  if (process_ != nullptr) process_->Send();
}

int64_t WorkerGroup::ProcessBytes() const {
  return process_ == nullptr ? 0 : ResidentBytesOf(process_->pid());
}

void WorkerGroup::Finish(absl::Span<absl::StatusOr<TimeStep>> results) {
  LZ_CHECK(is_begun_, "Finish without Begin");
  LZ_CHECK(results.size() == asked_.size(), results.size(), " results for ", asked_.size());
  is_begun_ = false;
  // Wait for the process, then read the result of each environment.
  absl::Status lost = process_ == nullptr ? absl::OkStatus() : process_->Wait();
  std::vector<std::pair<size_t, absl::Status>>
      failed;  // OK: its traceback is still to be asked for
  for (size_t i = 0; i < asked_.size(); ++i) {
    WorkerEnv* const env = asked_[i];
    if (!refused_[i].ok()) {
      results[i] = refused_[i];
    } else if (env->is_lost() || !lost.ok()) {
      results[i] = env->Interrupt();
    } else {
      const absl::StatusOr<WorkerResult> result = process_->memory().Read(env->slot_);
      const bool raised = result.ok() && result->failed;
      if (!raised) results[i] = env->Absorb(result);
      if (!raised && results[i].ok()) continue;
      failed.emplace_back(i, raised ? absl::OkStatus() : results[i].status());
      results[i] = env->Interrupt();
    }
  }
  // The buffer is read: only now may other messages be exchanged.
  for (const auto& [i, cause] : failed) {
    asked_[i]->broken_in_ = generation_;
    const absl::Status failure = cause.ok() ? FailureOf(asked_[i]->slot_) : cause;
    if (!process_->is_running()) lost = failure;
    if (!lost.ok()) break;
    const absl::Status given_up = Count(failure, asked_[i]);
    if (!given_up.ok()) results[i] = given_up;
  }
  // The process died: end it and count the loss.
  if (lost.ok()) return;
  LoseProcess();
  const absl::Status given_up = Count(lost);
  if (!given_up.ok() && !results.empty()) results[0] = given_up;
}

template <typename Drawn>
absl::StatusOr<Drawn> WorkerGroup::Draw(absl::StatusOr<Drawn> (WorkerProcess::*draw)(int),
                                        const WorkerEnv& env) {
  LZ_CHECK(!is_begun_, "a picture between Begin and Finish");
  if (!env.can_draw()) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", env.spec().id, "' has nothing to draw; call Reset first"));
  }
  absl::StatusOr<Drawn> drawn = (process_.get()->*draw)(env.slot_);
  if (process_->is_running()) return drawn;
  LoseProcess();
  LZ_RETURN_IF_ERROR(Count(drawn.status()));
  return drawn;
}

}  // namespace lzero
