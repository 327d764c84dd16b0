// Acrobot-v1 by Gymnasium's rules: two links hang from a fixed joint; a torque at the joint between
// them must swing the free end one length above the fixed joint. One Runge-Kutta step of 0.2 s in
// double, in the reference's order of operations, with the equations of the book; start states
// uniform in (-0.1, 0.1) from NumPy's generator, rounded to float32, so that a seed gives
// Gymnasium's start state; reward -1 a step and 0 on the step that reaches the goal; cap 500 unless
// set. Actions 0, 1, 2 are torques -1, 0, 1. Observation {6}: cos, sin of theta1, cos, sin of
// theta2, theta1_dot, theta2_dot. [gymnasium/envs/classic_control/acrobot.py; Sutton & Barto 2018]
#ifndef LZERO_ENVS_CLASSIC_ACROBOT_H_
#define LZERO_ENVS_CLASSIC_ACROBOT_H_

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class Acrobot : public EpisodeEnv {
 public:
  static constexpr int64_t kDefaultCap = 500;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // Joints '+' and 'o', links '*', free end 'O', the goal line '-', then the four numbers.
  absl::StatusOr<std::string> RenderText() const override;
  // 200 x 200 pixels.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;
  std::vector<double> GetPhysics() const override;
  absl::Status SetPhysics(const std::vector<double>& state) override;

 private:
  explicit Acrobot(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  // theta1 (rad, 0 hangs down), theta2 (rad, relative to the first link), their velocities.
  std::array<double, 4> state_ = {};
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_ACROBOT_H_
