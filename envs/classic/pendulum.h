// Pendulum-v1 by Gymnasium's rules: swing a rod up and hold it; double, in the reference's order of
// operations; start angle uniform in (-pi, pi) and velocity in (-1, 1) from NumPy's generator, so
// that a seed gives Gymnasium's start state. Reward -(angle^2 + 0.1 velocity^2 + 0.001 torque^2) of
// the state before the step; it never terminates; cap 200 unless set.
// Action {1}: torque from -2 to 2, clipped, counted so in the reward; positive is
// counter-clockwise. Observation {3}: cos theta, sin theta, theta_dot; theta is 0 upright.
// [gymnasium/envs/classic_control/pendulum.py]
#ifndef LZERO_ENVS_CLASSIC_PENDULUM_H_
#define LZERO_ENVS_CLASSIC_PENDULUM_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class Pendulum : public EpisodeEnv {
 public:
  static constexpr int64_t kDefaultCap = 200;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // Axle '+', rod '*' and its end 'O', then the two numbers.
  absl::StatusOr<std::string> RenderText() const override;
  // 200 x 200 pixels: the rod, and an arrow around the axle for the last torque.
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
  explicit Pendulum(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  double theta_ = 0.0;  // rad, counter-clockwise, not wrapped
  double theta_dot_ = 0.0;
  float torque_ = 0.0f;  // of the last step, for the picture
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_PENDULUM_H_
