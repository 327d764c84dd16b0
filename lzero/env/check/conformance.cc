#include "lzero/env/check/conformance.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/conformance_rules.h"
#include "lzero/env/check/conformance_verdict.h"
#include "lzero/env/check/rollout.h"

namespace lzero {
namespace {

// Positions of an episode that the costly checks look at, and episodes they look at.
constexpr int64_t kNumProbes = 12;
// Steps played on from a restored state.
constexpr size_t kProbeSteps = 12;
// Longer episodes are given up by the check that needs an end.
constexpr int64_t kMaxStepsToEnd = 100000;

using EnvOr = absl::StatusOr<std::unique_ptr<Env>>;

absl::Status ExpectCode(const absl::Status& status, absl::StatusCode code, absl::string_view what) {
  if (status.code() == code) return absl::OkStatus();
  return Broken(what, " gives ", absl::StatusCodeToString(status.code()), status.ok() ? "" : ": ",
                status.message(), "; expected ", absl::StatusCodeToString(code));
}

std::string ActionName(const Action& action, ActionKind kind) {
  if (kind == ActionKind::kDiscrete && action.values.empty()) {
    return absl::StrCat("action ", action.index);
  }
  if (action.values.empty()) return "an action without values";
  return absl::StrCat("an action of ", action.values.size(), " values, first ", action.values[0]);
}

class Suite {
 public:
  Suite(const EnvFactory& factory, const ConformanceOptions& options)
      : factory_(factory), options_(options) {}

  std::vector<ConformanceCheck> Run() {
    if (!Add("create", Create())) return checks_;
    spec_ = env_->spec();
    if (!Add("spec", CheckSpec(spec_))) return checks_;
    Add("step_before_reset_refused", StepBeforeReset());
    Add("random_steps", RandomSteps());
    AddOfEpisodes("observation_in_space", [this] { return CheckObservations(spec_, episodes_); });
    AddOfEpisodes("frames_stacked", [this] { return FrameStack(); });
    AddOfEpisodes("mask_and_flags", [this] { return CheckMasksAndFlags(spec_, episodes_); });
    AddOfEpisodes("step_cap", [this] { return StepCap(); });
    AddOfEpisodes("returns_consistent", [this] { return CheckReturns(episodes_); });
    repeats_ = AddOfEpisodes("same_seed_same_episode", [this] { return SameSeed(); });
    AddCompared("mask_equals_accepted_actions", [this] { return MaskEqualsAccepted(); });
    AddOfEpisodes("bad_actions_refused", [this] { return BadActions(); });
    AddOfEpisodes("step_after_end_refused", [this] { return StepAfterEnd(); });
    AddCompared("save_load_equal", [this] { return SaveLoad(); });
    AddCompared("broken_save_refused", [this] { return BrokenSave(); });
    AddCompared("set_state_equal", [this] { return SetState(); });
    AddCompared("symmetries_hold", [this] { return Symmetries(); });
    AddCompared("chance_outcomes_hold", [this] { return ChanceOutcomes(); });
    AddCompared("box_actions_clipped", [this] { return BoxClipping(); });
    return checks_;
  }

 private:
  bool Add(const char* name, const absl::Status& status) {
    checks_.push_back(MakeCheck(name, status, note_));
    checks_.back().skipped = std::exchange(skipped_, false);
    note_.clear();
    if (options_.on_check) options_.on_check(checks_.back());
    return status.ok();
  }
  // A check of what random_steps has played.
  bool AddOfEpisodes(const char* name, absl::FunctionRef<absl::Status()> check) {
    return Add(name, episodes_.empty() ? Skip("no episode was played (random_steps)") : check());
  }
  // The same for a check that compares episodes.
  void AddCompared(const char* name, absl::FunctionRef<absl::Status()> check) {
    AddOfEpisodes(name, [&] {
      return repeats_ ? check()
                      : Skip("the same seed gives other episodes (same_seed_same_episode)");
    });
  }
  // A check that passes, with something to say.
  absl::Status Note(std::string note) {
    note_ = std::move(note);
    return absl::OkStatus();
  }
  // A check that cannot be made.
  absl::Status Skip(std::string why) {
    skipped_ = true;
    return Note(std::move(why));
  }
  absl::Span<const EpisodeRecord> probed() const {
    return absl::MakeConstSpan(episodes_).subspan(0, kNumProbes);
  }

  // `probe` of at most kNumProbes steps of each record, evenly spread over its actions.
  template <typename Probe>
  absl::Status ForProbes(absl::Span<const EpisodeRecord> records, Probe probe) const {
    for (const EpisodeRecord& record : records) {
      const size_t stride = (record.actions.size() + kNumProbes - 1) / kNumProbes;
      for (size_t t = 0; t < record.actions.size(); t += stride) {
        LZ_RETURN_IF_ERROR(probe(record, t));
      }
    }
    return absl::OkStatus();
  }

  // Plays record.actions[from .. to) on `env` and compares with the recorded time steps.
  absl::Status Follow(Env& env, const EpisodeRecord& record, size_t from, size_t to) const {
    for (size_t t = from; t < std::min(to, record.actions.size()); ++t) {
      LZ_RETURN_IF_ERROR(
          CheckSame(record, t + 1, env.Step(record.actions[t]), record.steps[t + 1]));
    }
    return absl::OkStatus();
  }

  // A new environment that has played the first `t` actions of the record.
  EnvOr MakeAt(const EpisodeRecord& record, size_t t) const {
    LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, factory_());
    LZ_RETURN_IF_ERROR(CheckSame(record, 0, env->Reset(record.seed), record.steps[0]));
    LZ_RETURN_IF_ERROR(Follow(*env, record, 0, t));
    return env;
  }

  absl::Status Create() {
    LZ_ASSIGN_OR_RETURN(env_, factory_());
    return env_ != nullptr ? absl::OkStatus() : Broken("the factory gives no environment");
  }

  absl::Status StepBeforeReset() {
    Action action;
    if (spec_.action.kind == ActionKind::kBox) action.values = spec_.action.low;
    LZ_ASSIGN_OR_RETURN(const auto fresh, factory_());
    return ExpectCode(fresh->Step(action).status(), absl::StatusCode::kFailedPrecondition,
                      "Step before the first Reset");
  }

  absl::Status RandomSteps() {
    int64_t num_steps = 0;
    for (uint64_t k = 0; num_steps < options_.num_steps; ++k) {
      LZ_ASSIGN_OR_RETURN(EpisodeRecord record, PlayRandomEpisode(*env_, options_.seed + k,
                                                                  options_.num_steps - num_steps));
      // An episode that ends at once counts as well, so that this loop ends.
      num_steps += std::max<int64_t>(1, static_cast<int64_t>(record.actions.size()));
      episodes_.push_back(std::move(record));
    }
    return Note(absl::StrCat(num_steps, " steps, ", episodes_.size(), " episodes"));
  }

  absl::Status FrameStack() {
    if (spec_.observation.frame_stack == 1) return Skip("the spec says frames are not stacked");
    return CheckFrameStack(spec_, episodes_);
  }

  absl::Status StepCap() {
    const auto reached = [this](const EpisodeRecord& record) {
      return static_cast<int64_t>(record.actions.size()) >= spec_.max_episode_steps;
    };
    if (spec_.max_episode_steps == 0) return Skip("the spec says there is none");
    LZ_RETURN_IF_ERROR(CheckStepCaps(spec_, episodes_));
    return std::any_of(episodes_.begin(), episodes_.end(), reached) ? absl::OkStatus()
                                                                    : Skip("no episode reached it");
  }

  absl::Status SameSeed() {
    for (const EpisodeRecord& record : episodes_) {
      LZ_RETURN_IF_ERROR(MakeAt(record, record.actions.size()).status());
      // The used environment again, whatever its last episode left behind.
      LZ_RETURN_IF_ERROR(
          CheckSame(record, 0, env_->Reset(record.seed), record.steps[0], "second Reset: "));
      LZ_RETURN_IF_ERROR(Annotate(Follow(*env_, record, 0, record.actions.size()), "second Reset"));
    }
    return absl::OkStatus();
  }

  absl::Status ProbeMask(Env& env, const EpisodeRecord& record, size_t t) {
    const std::vector<uint8_t>& mask = record.steps[t].legal_action_mask;
    for (int32_t index = 0; index < static_cast<int32_t>(mask.size()); ++index) {
      // Without saving only refusals are tried on the way: an accepted action would move on.
      if (!spec_.can_save && mask[index] != 0) continue;
      ++num_tried_;
      const absl::StatusOr<std::string> here = spec_.can_save ? env.Save() : std::string();
      LZ_RETURN_IF_ERROR(here.status());
      const bool accepted = env.Step(Action::Discrete(index)).ok();
      if (accepted != (mask[index] != 0)) {
        return BrokenAt(record, t, "action ", index, " is ", accepted ? "accepted" : "refused",
                        " and the mask says ", static_cast<int>(mask[index]));
      }
      if (spec_.can_save) LZ_RETURN_IF_ERROR(env.Load(*here));
    }
    return absl::OkStatus();
  }

  absl::Status MaskEqualsAccepted() {
    if (spec_.action.kind == ActionKind::kBox) return Skip("box actions have no mask");
    if (spec_.can_save) {
      return ForProbes(probed(), [&](const EpisodeRecord& record, size_t t) -> absl::Status {
        LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, t));
        return ProbeMask(*env, record, t);
      });
    }
    for (const EpisodeRecord& record : probed()) {
      LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, 0));
      for (size_t t = 0; t < record.actions.size(); ++t) {
        LZ_RETURN_IF_ERROR(ProbeMask(*env, record, t));
        LZ_RETURN_IF_ERROR(Follow(*env, record, t, t + 1));
      }
    }
    return num_tried_ > 0 ? Note("cannot save: only refused actions were tried at every step")
                          : Skip("cannot save, and every action was legal");
  }

  absl::Status BadActions() {
    for (const EpisodeRecord& record : probed()) {
      LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, factory_());
      TimeStep now = env->Reset(record.seed);
      for (size_t t = 0; t < record.actions.size() && !now.ended(); ++t) {
        for (const Action& action : BadActionsFor(spec_, now)) {
          LZ_RETURN_IF_ERROR(
              At(record, t,
                 ExpectCode(env->Step(action).status(), absl::StatusCode::kInvalidArgument,
                            ActionName(action, spec_.action.kind))));
        }
        absl::StatusOr<TimeStep> next = env->Step(record.actions[t]);
        if (!repeats_ && !next.ok()) break;  // in this episode that action is illegal
        // The next recorded step tells whether anything changed.
        if (repeats_) {
          LZ_RETURN_IF_ERROR(
              CheckSame(record, t + 1, next, record.steps[t + 1], "changed by a refused action: "));
        }
        now = *std::move(next);
      }
    }
    return absl::OkStatus();
  }

  absl::Status StepAfterEnd() {
    LZ_ASSIGN_OR_RETURN(const EpisodeRecord record,
                        PlayRandomEpisode(*env_, options_.seed, kMaxStepsToEnd));
    if (record.actions.empty()) return BrokenAt(record, 0, "the episode ends at Reset");
    if (!record.steps.back().ended()) {
      return Skip(absl::StrCat(kNoEnd, kMaxStepsToEnd, " steps"));
    }
    const auto save = [this] { return spec_.can_save ? env_->Save() : std::string(); };
    LZ_ASSIGN_OR_RETURN(const std::string before, save());
    for (int repeat = 0; repeat < 2; ++repeat) {
      LZ_RETURN_IF_ERROR(ExpectCode(env_->Step(record.actions.back()).status(),
                                    absl::StatusCode::kFailedPrecondition, "Step after the end"));
    }
    LZ_ASSIGN_OR_RETURN(const std::string after, save());
    return before == after ? absl::OkStatus() : Broken("Step after the end changed the state");
  }

  absl::Status ProbeSave(const EpisodeRecord& record, size_t t) {
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, t));
    LZ_ASSIGN_OR_RETURN(const std::string state, env->Save());
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> fresh, factory_());
    LZ_RETURN_IF_ERROR(Annotate(fresh->Load(state), "a saved state is refused"));
    LZ_ASSIGN_OR_RETURN(const std::string again, fresh->Save());
    if (again != state) return BrokenAt(record, t, "saving what was loaded gives other bytes");
    const auto follow = [&](Env& from, absl::string_view how) {
      return Annotate(Follow(from, record, t, t + kProbeSteps), how);
    };
    LZ_RETURN_IF_ERROR(follow(*fresh, "loaded into a new one"));
    // A used environment, in the middle of another episode.
    env_->Reset(record.seed + 1);
    LZ_RETURN_IF_ERROR(env_->Load(state));
    LZ_RETURN_IF_ERROR(follow(*env_, "loaded into a used one"));
    return follow(*env, "going on after Save");
  }

  absl::Status SaveLoad() {
    if (!spec_.can_save) {
      LZ_RETURN_IF_ERROR(
          ExpectCode(env_->Save().status(), absl::StatusCode::kUnimplemented, "Save"));
      return Skip("the spec says it cannot save");
    }
    for (const EpisodeRecord& record : probed()) {
      LZ_RETURN_IF_ERROR(ForProbes({&record, 1}, [&](const EpisodeRecord& probed, size_t t) {
        return ProbeSave(probed, t);
      }));
      LZ_RETURN_IF_ERROR(ProbeSave(record, record.actions.size()));
    }
    return absl::OkStatus();
  }

  absl::Status BrokenSave() {
    if (!spec_.can_save) {
      LZ_RETURN_IF_ERROR(ExpectCode(env_->Load(""), absl::StatusCode::kUnimplemented, "Load"));
      return Skip("the spec says it cannot save");
    }
    const EpisodeRecord& record = episodes_[0];
    const size_t middle = record.actions.size() / 2;
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, middle));
    LZ_ASSIGN_OR_RETURN(const std::string good, env->Save());
    for (const std::string& bad : {std::string(), std::string("garbage"), good + "x", "x" + good,
                                   good.substr(0, good.size() / 2)}) {
      const std::string name = absl::StrCat("Load of ", bad.size(), " broken bytes");
      LZ_RETURN_IF_ERROR(ExpectCode(env->Load(bad), absl::StatusCode::kInvalidArgument, name));
    }
    return Annotate(Follow(*env, record, middle, record.actions.size()),
                    "changed by a broken Load");
  }

  absl::Status ProbeState(const EpisodeRecord& record, size_t t) const {
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, t));
    LZ_ASSIGN_OR_RETURN(const std::vector<double> state, env->GetState());
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> fresh, factory_());
    LZ_RETURN_IF_ERROR(fresh->SetState(state));
    const absl::StatusOr<TimeStep> step = fresh->Step(record.actions[t]);
    LZ_RETURN_IF_ERROR(At(record, t + 1, step.status()));
    // The state is the physics only: step count and return begin anew.
    TimeStep expected = record.steps[t + 1];
    expected.truncated = step->truncated;
    expected.episode_return = step->episode_return;
    expected.legal_action_mask = step->legal_action_mask;
    return CheckSame(record, t + 1, step, expected);
  }

  absl::Status SetState() {
    if (!spec_.can_set_state) {
      LZ_RETURN_IF_ERROR(
          ExpectCode(env_->GetState().status(), absl::StatusCode::kUnimplemented, "GetState"));
      LZ_RETURN_IF_ERROR(
          ExpectCode(env_->SetState({}), absl::StatusCode::kUnimplemented, "SetState"));
      return Skip("the spec says it has no physics state");
    }
    LZ_RETURN_IF_ERROR(
        ExpectCode(env_->SetState({}), absl::StatusCode::kInvalidArgument, "SetState of nothing"));
    if (!spec_.deterministic) return Skip("steps draw random numbers");
    return ForProbes(probed(),
                     [&](const EpisodeRecord& record, size_t t) { return ProbeState(record, t); });
  }

  // Plays the image of the record; the start is its own image.
  absl::Status FollowImage(const EpisodeRecord& record, const Symmetry& symmetry) const {
    LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeAt(record, 0));
    for (size_t t = 0; t < record.actions.size(); ++t) {
      const int32_t image = symmetry.action_image[static_cast<size_t>(record.actions[t].index)];
      LZ_RETURN_IF_ERROR(CheckSame(record, t + 1, env->Step(Action::Discrete(image)),
                                   ImageOf(symmetry, record.steps[t + 1])));
    }
    return absl::OkStatus();
  }

  absl::Status Symmetries() {
    if (spec_.symmetries.empty()) return Skip("the spec declares none");
    int num_played = 0;
    for (const EpisodeRecord& record : spec_.deterministic ? probed() : probed().first(0)) {
      for (size_t k = 0; k < spec_.symmetries.size(); ++k) {
        const TimeStep image = ImageOf(spec_.symmetries[k], record.steps[0]);
        if (image.observation != record.steps[0].observation) continue;
        ++num_played;
        LZ_RETURN_IF_ERROR(Annotate(FollowImage(record, spec_.symmetries[k]),
                                    absl::StrCat("played as its image under symmetry ", k)));
      }
    }
    if (num_played == 0) {
      return Skip("no start that is its own image, or random steps");
    }
    return Note(absl::StrCat(spec_.symmetries.size(), " symmetries, ", num_played,
                             " episodes played as their images"));
  }

  absl::Status ChanceOutcomes() {
    LZ_RETURN_IF_ERROR(CheckChanceOutcomes(factory_, spec_, probed()));
    return spec_.num_chance_outcomes > 0 ? absl::OkStatus() : Skip("the spec says there are none");
  }

  absl::Status BoxClipping() {
    if (spec_.action.kind != ActionKind::kBox) return Skip("actions are discrete");
    return CheckClipping(factory_, spec_, probed());
  }

  const EnvFactory& factory_;
  const ConformanceOptions& options_;
  std::unique_ptr<Env> env_;
  EnvSpec spec_;
  std::vector<EpisodeRecord> episodes_;
  bool repeats_ = true;    // the same seed gives the same episode
  int64_t num_tried_ = 0;  // actions of MaskEqualsAccepted
  std::string note_;
  bool skipped_ = false;
  std::vector<ConformanceCheck> checks_;
};

}  // namespace

std::vector<ConformanceCheck> RunConformance(const EnvFactory& factory,
                                             const ConformanceOptions& options) {
  return Suite(factory, options).Run();
}

}  // namespace lzero
