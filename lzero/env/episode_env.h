// What every native environment shares: when a step is allowed, which actions are refused, the step
// cap, returns, and the frame of a saved state. A concrete environment adds its rules only. An
// environment from outside the program implements Env directly.
// Used by one thread at a time.
#ifndef LZERO_ENV_EPISODE_ENV_H_
#define LZERO_ENV_EPISODE_ENV_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/env/saved_state.h"

namespace lzero {

// InvalidArgument unless `action` has the kind, range and number of values that `spec` asks for and
// is legal by `mask` ([num_actions]; empty: everything is legal). Values of a box may lie beyond
// its bounds and must be finite.
absl::Status CheckAction(const EnvSpec& spec, const Action& action, absl::Span<const uint8_t> mask);

// What a step gives where no episode runs: FailedPrecondition, whose words say which it is.
absl::Status NoEpisodeError(const EnvSpec& spec, bool has_ended);

class EpisodeEnv : public Env {
 public:
  const EnvSpec& spec() const final { return spec_; }
  TimeStep Reset(uint64_t seed) final;
  absl::StatusOr<TimeStep> Step(const Action& action) final;
  absl::StatusOr<std::vector<ChanceOutcome>> ChanceOutcomes(const Action& action) const final;
  absl::StatusOr<TimeStep> StepWithOutcome(const Action& action, int32_t outcome) final;
  absl::StatusOr<std::string> Save() const final;
  absl::Status Load(const std::string& state) final;
  absl::StatusOr<std::vector<double>> GetState() const final;
  absl::Status SetState(const std::vector<double>& state) final;

  // What Save gives in a running episode of environment `id`, before its first step, whose game
  // `save_game` writes: for positions that were put together, not played.
  static std::string RunningState(absl::string_view id,
                                  absl::FunctionRef<void(StateWriter&)> save_game);

 protected:
  struct Outcome {
    float reward = 0.0f;  // from the view of the player who moved
    bool terminated = false;
    int32_t chance_outcome = -1;  // the drawn one, where the spec has chance outcomes
  };

  explicit EpisodeEnv(EnvSpec spec);

  // Puts the game at the start of an episode.
  virtual void StartGame(uint64_t seed) = 0;
  // Plays an action that was checked already. A box action may lie beyond its bounds: ClippedValue.
  virtual Outcome Advance(const Action& action) = 0;
  // Fills `observation` [observation.size()].
  virtual void Observe(absl::Span<float> observation) const = 0;
  // Sets `mask` [num_actions], all ones on entry, while the episode runs. Asked once after each
  // change of the state: it may depend on nothing else.
  virtual void FillLegalActions(absl::Span<uint8_t> /*mask*/) const {}
  virtual int ToPlay() const { return 0; }

  // Asked only when the spec has chance outcomes, for actions that were checked already; an outcome
  // that is played is one of GameChances(action).
  virtual std::vector<ChanceOutcome> GameChances(const Action& /*action*/) const { return {}; }
  virtual Outcome AdvanceWith(const Action& action, int32_t /*outcome*/) { return Advance(action); }

  // action.values[i], or the nearer bound of the spec where it lies beyond it.
  float ClippedValue(const Action& action, size_t i) const;

  // Asked only when the spec says can_save. A spec that promises more than is overridden here makes
  // Save, Load, GetState and SetState fail as Unimplemented, naming what is missing. LoadGame reads
  // every value, asks reader.Finish(), checks them and only then changes the game.
  virtual void SaveGame(StateWriter& writer) const { writer.Refuse(); }
  virtual absl::Status LoadGame(StateReader& reader);
  // Asked only when the spec says can_set_state; SetPhysics refuses a wrong size or non-number.
  virtual std::vector<double> GetPhysics() const { return {}; }
  virtual absl::Status SetPhysics(const std::vector<double>& state);

 private:
  enum class Phase : uint8_t { kNotStarted, kRunning, kEnded };

  // The part of a saved state that is the same for all; `terminated` and the like are not needed.
  struct Progress {
    Phase phase = Phase::kNotStarted;
    int64_t num_steps = 0;
    double episode_return = 0.0;  // player 0's view
  };
  static void WriteProgress(const Progress& progress, StateWriter& writer);

  // Brings mask_ up to date after the game or the phase changed.
  void UpdateMask();
  // FailedPrecondition unless an episode runs, then CheckAction.
  absl::Status CheckStep(const Action& action) const;
  // A step that `advance` makes: counted, with its end. Internal when the game throws.
  absl::StatusOr<TimeStep> Play(absl::FunctionRef<Outcome()> advance);
  absl::Status ThrownError(const std::string& what) const;
  // Counts a step that `mover` made, and its end.
  TimeStep Finish(int mover, const Outcome& outcome);
  TimeStep MakeTimeStep(const Outcome& outcome, bool truncated);

  EnvSpec spec_;
  Progress progress_;
  absl::Status failure_;       // of the last Reset, for the next Step
  std::vector<uint8_t> mask_;  // [num_actions], of the state as it is; empty for a box
};

}  // namespace lzero

#endif  // LZERO_ENV_EPISODE_ENV_H_
