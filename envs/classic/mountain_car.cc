// MountainCar-v0 by Gymnasium's rules: a car too weak for the hill must swing up to the flag at
// 0.5; double, in the reference's order of operations; the start position is uniform in (-0.6,
// -0.4) from NumPy's generator, so that a seed gives Gymnasium's start state; reward -1 a step, the
// last one too; cap 200 unless set. Actions 0, 1, 2 push left, not at all, right. Observation {2}:
// position, velocity. [gymnasium/envs/classic_control/mountain_car.py]
#include <algorithm>
#include <array>
#include <cmath>

#include "envs/classic/mountain_car_picture.h"
#include "envs/classic/physics_env.h"
#include "envs/entries.h"
#include "envs/support/numpy_random.h"

namespace lzero {
namespace {

constexpr double kLeftEnd = -1.2;
constexpr double kRightEnd = 0.6;
constexpr double kMaxSpeed = 0.07;
constexpr double kGoal = 0.5;
constexpr double kForce = 0.001;
constexpr double kGravity = 0.0025;

constexpr std::array<PhysicsNumber, 2> kNumbers = {
    {{"position", kLeftEnd, kRightEnd}, {"velocity", -kMaxSpeed, kMaxSpeed}}};

class MountainCar : public PhysicsEnv<kNumbers> {
 public:
  using PhysicsEnv::PhysicsEnv;

  // See mountain_car_picture.h.
  absl::StatusOr<std::string> RenderText() const override {
    return MountainCarText(position_, velocity_, kGoal);
  }
  absl::StatusOr<Image> RenderRgb() const override { return MountainCarPicture(position_, kGoal); }
  void StartGame(uint64_t seed) override {
    position_ = NumpyRandom(seed).Uniform(-0.6, -0.4);
    velocity_ = 0.0;
  }
  Outcome Advance(const Action& action) override {
    velocity_ += (action.index - 1) * kForce + std::cos(3 * position_) * -kGravity;
    velocity_ = std::clamp(velocity_, -kMaxSpeed, kMaxSpeed);
    position_ = std::clamp(position_ + velocity_, kLeftEnd, kRightEnd);
    // The left end is a wall.
    if (position_ == kLeftEnd && velocity_ < 0.0) velocity_ = 0.0;
    return {-1.0f, position_ >= kGoal && velocity_ >= 0.0};
  }

 private:
  double& position_ = state_[0];
  double& velocity_ = state_[1];
};

}  // namespace

EnvRegistry::Entry MountainCarEntry() {
  EnvSpec spec;
  spec.observation = {{2}, {kLeftEnd, -kMaxSpeed}, {kRightEnd, kMaxSpeed}};
  spec.action.num_actions = 3;
  spec.can_set_state = true;
  return CappedEntry<MountainCar>("mountain_car",
                                  "swing a weak car up a hill (Gymnasium MountainCar-v0), cap 200",
                                  spec, /*default_cap=*/200);
}

}  // namespace lzero
