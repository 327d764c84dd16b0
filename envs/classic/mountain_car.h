// MountainCar-v0 by Gymnasium's rules: a car too weak for the hill must swing up to the flag at
// 0.5; double, in the reference's order of operations; the start position is uniform in (-0.6,
// -0.4) from NumPy's generator, so that a seed gives Gymnasium's start state; reward -1 a step, the
// last one too; cap 200 unless set. Actions 0, 1, 2 push left, not at all, right. Observation {2}:
// position, velocity. [gymnasium/envs/classic_control/mountain_car.py]
#ifndef LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_H_
#define LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class MountainCar : public EpisodeEnv {
 public:
  static constexpr int64_t kDefaultCap = 200;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // See mountain_car_picture.h.
  absl::StatusOr<std::string> RenderText() const override;
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
  explicit MountainCar(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  double position_ = 0.0;
  double velocity_ = 0.0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_H_
