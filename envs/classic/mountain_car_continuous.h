// MountainCarContinuous-v0 by Gymnasium's rules, with NumPy's promotion of them: the start state is
// double (uniform position in (-0.6, -0.4) from NumPy's generator); after every step position and
// velocity are rounded to float32 and the next step is computed in float32. The flag is at 0.45;
// reward -0.1 a^2 of the action as given, and 100 for reaching the flag; cap 999 unless set.
// Action {1}: force from -1 to 1, clipped. Observation {2}: position, velocity.
// [gymnasium/envs/classic_control/continuous_mountain_car.py; NEP 50]
#ifndef LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_CONTINUOUS_H_
#define LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_CONTINUOUS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class MountainCarContinuous : public EpisodeEnv {
 public:
  static constexpr int64_t kDefaultCap = 999;

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
  // Two float32 numbers are a state after a step, others one of Reset.
  absl::Status SetPhysics(const std::vector<double>& state) override;

 private:
  explicit MountainCarContinuous(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  // Moves the car, in arithmetic of type T.
  template <typename T>
  void Move(float action);

  double position_ = 0.0;
  double velocity_ = 0.0;
  bool is_float32_ = false;  // both were rounded to float32, as after every step
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_MOUNTAIN_CAR_CONTINUOUS_H_
