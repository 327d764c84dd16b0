// CartPole-v1 by Gymnasium's rules: Euler steps of 0.02 s in double, in the reference's order of
// operations; start states uniform in (-0.05, 0.05) from NumPy's generator, so that a seed gives
// Gymnasium's start state; reward 1 also on the step that terminates; cap 500 unless set.
// Terminated and truncated can both be set at the cap, as in the reference. Action 1 pushes right.
// Observation {4}: x, x_dot, theta, theta_dot. [gymnasium/envs/classic_control/cartpole.py]
#ifndef LZERO_ENVS_CLASSIC_CARTPOLE_H_
#define LZERO_ENVS_CLASSIC_CARTPOLE_H_

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class CartPole : public EpisodeEnv {
 public:
  static constexpr int64_t kDefaultCap = 500;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // Cart and pole on a track, and the four numbers.
  absl::StatusOr<std::string> RenderText() const override;
  // 300 x 200 pixels.
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
  explicit CartPole(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  std::array<double, 4> state_ = {};  // x (m), x_dot, theta (rad), theta_dot
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_CARTPOLE_H_
