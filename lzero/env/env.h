// The interface of an environment, and what it promises: shapes, bounds, players, limits (EnvSpec).
// An Env is used by one thread at a time. Errors of the caller
// that can come from outside (an illegal action, stepping a finished episode) are absl::Status and
// change nothing; terminated and truncated are never merged.
#ifndef LZERO_ENV_ENV_H_
#define LZERO_ENV_ENV_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/observation_type.h"
#include "lzero/base/picture/image.h"
#include "lzero/base/symmetry.h"

namespace lzero {

enum class ActionKind { kDiscrete, kBox };

struct ActionSpec {
  ActionKind kind = ActionKind::kDiscrete;
  int num_actions = 0;  // kDiscrete: actions are 0 .. num_actions - 1
  // kBox: [action_dim]. A finite value beyond its bounds is taken and acts like the bound, up to
  // rounding; whether a reward counts it as given is the environment's own rule. NaN and infinity
  // are refused.
  std::vector<float> low;
  std::vector<float> high;
  // What the numbers of discrete actions stand for, a line for `lzero envs info`; empty:
  // themselves.
  std::string meaning = {};
  // Where observations are boards [channels, height, width]: action a is a move of kind places[a] /
  // (height * width) at the cell places[a] % (height * width); -1: at none, as a pass. Empty:
  // actions have no cells.
  std::vector<int32_t> places = {};

  // Numbers of a box action; 0 for discrete ones.
  int64_t dim() const { return static_cast<int64_t>(low.size()); }
};

struct ObservationSpec {
  std::vector<int64_t> shape;  // {4}, or channels first {3, 3, 3} for boards and pictures
  // Bounds of every element, or one value for all of them.
  std::vector<float> low;
  std::vector<float> high;
  ObservationType type = ObservationType::kFloat32;
  // An observation is so many blocks of equal size, the oldest first; the next one of the episode
  // is its last frame_stack - 1 blocks and a new one. An episode may begin with any blocks. Replay
  // keeps every block once.
  int64_t frame_stack = 1;
  // What it is made of, a line each for `lzero envs info`; empty: the shape says it all.
  std::vector<std::string> parts = {};

  int64_t size() const {
    int64_t count = 1;
    for (const int64_t length : shape) count *= length;
    return count;
  }
};

struct EnvSpec {
  std::string id;
  ObservationSpec observation;
  ActionSpec action;
  int num_players = 1;
  int64_t max_episode_steps = 0;  // the cap in force; 0: the game ends by itself
  int64_t longest_episode = 0;    // steps after which it has ended by itself; 0: not known
  bool can_save = false;          // Save and Load work
  bool can_set_state = false;     // physics state, for traces
  bool deterministic = true;      // Step draws no random numbers
  // Truncates episodes by rules of its own, away from the cap.
  bool truncates_itself = false;
  // Above 0: every step draws one of so many chance outcomes, which can be listed and chosen
  // (Env::ChanceOutcomes, Env::StepWithOutcome).
  int num_chance_outcomes = 0;
  // Relabellings under which the environment plays the same, the identity among them; empty: none
  // is declared.
  std::vector<Symmetry> symmetries = {};
};

// An action of either kind; `values` is used by box spaces only, see ActionSpec for their bounds.
struct Action {
  int32_t index = 0;
  std::vector<float> values;

  static Action Discrete(int32_t index) { return Action{index, {}}; }
};

// Discrete: the action `index`. Box: `values` [D], each in [-1, 1], scaled to the bounds of
// `spec`, which are finite; -1 and 1 are the bounds themselves.
void MakeAction(const ActionSpec& spec, int32_t index, absl::Span<const float> values,
                Action* action);

struct TimeStep {
  std::vector<float> observation;          // [observation.size()]
  std::vector<uint8_t> legal_action_mask;  // [num_actions], 1 = legal; all 0 once the episode ended
  int to_play = 0;          // player to move at this observation, 0-based; 0 in one-player games
  float reward = 0.0f;      // of the step that led here, from the view of the player who moved
  bool terminated = false;  // the task itself ended
  bool truncated = false;   // a step cap cut the episode; the task would go on
  double episode_return = 0.0;  // sum of rewards so far, from player 0's view
  // Which of spec().num_chance_outcomes the step that led here drew; -1: none.
  int32_t chance_outcome = -1;
  // Truncated because the environment's process died, not by a rule of the task; the observation is
  // the one before.
  bool interrupted = false;
  // What Env::Save gives at a position that stands alone, such as a grader's, for models that
  // simulate with the environment. Empty where an environment gave the step: ask that one.
  std::string state = {};

  bool ended() const { return terminated || truncated; }
};

// What chance can do after an action.
struct ChanceOutcome {
  int32_t index = 0;  // 0 .. spec().num_chance_outcomes - 1
  double probability = 0.0;
};

class Env;

// Environments that are stepped together, such as those of one worker process, while the caller
// does something else. Used by one thread at a time, like each of its environments.
class EnvBatch {
 public:
  virtual ~EnvBatch() = default;
  // Begins to step envs[i] with actions[i]: different ones, all of this batch. Does not wait.
  virtual void Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) = 0;
  // results[i] is what envs[i]->Step(actions[i]) gives, for the last Begin. Blocks.
  virtual void Finish(absl::Span<absl::StatusOr<TimeStep>> results) = 0;
  // Memory that the process which steps them holds now; 0 where that is this process.
  virtual int64_t ProcessBytes() const { return 0; }
};

class Env {
 public:
  virtual ~Env() = default;

  // Fixed for the life of the environment.
  virtual const EnvSpec& spec() const = 0;

  // Starts a new episode; the same seed and actions give the same episode.
  virtual TimeStep Reset(uint64_t seed) = 0;

  // FailedPrecondition before the first Reset or after the end of an episode; InvalidArgument for
  // an action out of range, illegal, or not a number. On an error nothing has changed.
  virtual absl::StatusOr<TimeStep> Step(const Action& action) = 0;

  // The batch that this environment belongs to; null: it is stepped alone. Outlives it.
  virtual EnvBatch* batch() { return nullptr; }

  // What chance can do after the legal `action`, probabilities above 0 that sum to 1. Unimplemented
  // when spec().num_chance_outcomes is 0; other errors as Step.
  virtual absl::StatusOr<std::vector<ChanceOutcome>> ChanceOutcomes(
      const Action& /*action*/) const {
    return Cannot("list chance outcomes");
  }
  // Step with `outcome`, one of ChanceOutcomes(action), in place of a drawn one; draws nothing.
  // InvalidArgument (nothing changed) for an outcome that cannot happen.
  virtual absl::StatusOr<TimeStep> StepWithOutcome(const Action& /*action*/, int32_t /*outcome*/) {
    return Cannot("take a chosen chance outcome");
  }

  // Everything that Step and later Resets depend on. Unimplemented when spec().can_save is false.
  virtual absl::StatusOr<std::string> Save() const { return Cannot("save its state"); }
  // InvalidArgument (nothing changed) when `state` was not made by Save of the same environment.
  virtual absl::Status Load(const std::string& /*state*/) { return Cannot("load a saved state"); }

  // The physics state, float64, as traces record it (env/check/trace.h). Unimplemented when
  // spec().can_set_state is false. SetState begins a fresh episode at step 0 in that state.
  virtual absl::StatusOr<std::vector<double>> GetState() const {
    return Cannot("give a physics state");
  }
  virtual absl::Status SetState(const std::vector<double>& /*state*/) {
    return Cannot("take a physics state");
  }

  // A picture in characters, lines separated by '\n'. Unimplemented by default.
  virtual absl::StatusOr<std::string> RenderText() const { return Cannot("draw itself as text"); }
  // A picture of the state after the last Reset or Step; its size never changes. Unimplemented by
  // default.
  virtual absl::StatusOr<Image> RenderRgb() const { return Cannot("draw a picture"); }

 private:
  // Unimplemented: "environment 'ID' cannot WHAT".
  absl::Status Cannot(absl::string_view what) const;
};

// Makes one more environment of a kind.
using EnvFactory = std::function<absl::StatusOr<std::unique_ptr<Env>>()>;

}  // namespace lzero

#endif  // LZERO_ENV_ENV_H_
