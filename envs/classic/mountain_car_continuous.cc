// MountainCarContinuous-v0 by Gymnasium's rules, with NumPy's promotion of them: the start state is
// double (uniform position in (-0.6, -0.4) from NumPy's generator); after every step position and
// velocity are rounded to float32 and the next step is computed in float32. The flag is at 0.45;
// reward -0.1 a^2 of the action as given, and 100 for reaching the flag; cap 999 unless set.
// Action {1}: force from -1 to 1, clipped. Observation {2}: position, velocity.
// [gymnasium/envs/classic_control/continuous_mountain_car.py; NEP 50]
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "envs/classic/mountain_car_picture.h"
#include "envs/classic/physics_env.h"
#include "envs/entries.h"
#include "envs/support/numpy_random.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr double kLeftEnd = -1.2;
constexpr double kRightEnd = 0.6;
constexpr double kMaxSpeed = 0.07;
constexpr double kGoal = 0.45;
constexpr double kPower = 0.0015;
constexpr double kGravity = 0.0025;

// The ends and the speed limit rounded to float32 lie beyond themselves and can be reached.
constexpr std::array<PhysicsNumber, 2> kNumbers = {
    {{"position", static_cast<float>(kLeftEnd), static_cast<float>(kRightEnd)},
     {"velocity", static_cast<float>(-kMaxSpeed), static_cast<float>(kMaxSpeed)}}};

bool IsFloat32(double value) { return RoundToFloat32(value) == value; }

// The push of the engine less the pull of gravity. NumPy 2: float32 with a Python float is float32,
// but a force that was clipped is a Python float itself, and then all of it is double.
double Acceleration(float action, double pull) {
  if (action > 1.0f) return 1.0 * kPower - pull;
  if (action < -1.0f) return -1.0 * kPower - pull;
  return action * static_cast<float>(kPower) - static_cast<float>(pull);
}

class MountainCarContinuous : public PhysicsEnv<kNumbers> {
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
    is_float32_ = false;
  }
  Outcome Advance(const Action& action) override {
    const float given = action.values[0];
    const double goal = is_float32_ ? static_cast<float>(kGoal) : kGoal;
    is_float32_ ? Move<float>(given) : Move<double>(given);
    // The goal is looked at before the state is rounded.
    const bool terminated = position_ >= goal && velocity_ >= 0.0;
    position_ = RoundToFloat32(position_);
    velocity_ = RoundToFloat32(velocity_);
    is_float32_ = true;
    const double reward =
        (terminated ? 100.0 : 0.0) - static_cast<double>(given) * static_cast<double>(given) * 0.1;
    // A huge action would make a reward that is not finite.
    constexpr double kLeast = std::numeric_limits<float>::lowest();
    return {static_cast<float>(std::max(reward, kLeast)), terminated};
  }
  void SaveGame(StateWriter& writer) const override {
    PhysicsEnv::SaveGame(writer);
    writer.Write(is_float32_);
  }
  absl::Status LoadGame(StateReader& reader) override {
    const std::array<double, 2> state = {reader.Read<double>(), reader.Read<double>()};
    const bool is_float32 = reader.Read<bool>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    const std::string problem = PhysicsProblem(kNumbers, state);
    if (!problem.empty()) return reader.Impossible(problem);
    if (is_float32 && !(IsFloat32(state[0]) && IsFloat32(state[1]))) {
      return reader.Impossible("a number is not a float32 after a step");
    }
    state_ = state;
    is_float32_ = is_float32;
    return absl::OkStatus();
  }
  // Two float32 numbers are a state after a step, others one of Reset.
  absl::Status SetPhysics(const std::vector<double>& state) override {
    LZ_RETURN_IF_ERROR(PhysicsEnv::SetPhysics(state));
    is_float32_ = IsFloat32(position_) && IsFloat32(velocity_);
    return absl::OkStatus();
  }

 private:
  // Moves the car, in arithmetic of type T.
  template <typename T>
  void Move(float action) {
    constexpr T kFastest = static_cast<T>(kMaxSpeed);
    T position = static_cast<T>(position_);
    T velocity = static_cast<T>(velocity_);
    const double pull = kGravity * std::cos(static_cast<double>(3 * position));
    velocity += static_cast<T>(Acceleration(action, pull));
    velocity = std::clamp(velocity, -kFastest, kFastest);
    position = std::clamp(position + velocity, static_cast<T>(kLeftEnd), static_cast<T>(kRightEnd));
    // The left end is a wall.
    if (position == static_cast<T>(kLeftEnd) && velocity < 0) velocity = 0;
    position_ = position;
    velocity_ = velocity;
  }

  double& position_ = state_[0];
  double& velocity_ = state_[1];
  bool is_float32_ = false;  // both were rounded to float32, as after every step
};

}  // namespace

EnvRegistry::Entry MountainCarContinuousEntry() {
  EnvSpec spec;
  spec.observation = {{2}, {kLeftEnd, -kMaxSpeed}, {kRightEnd, kMaxSpeed}};
  spec.action = {ActionKind::kBox, 0, {-1.0f}, {1.0f}};
  spec.can_set_state = true;
  return CappedEntry<MountainCarContinuous>(
      "mountain_car_continuous",
      "the same with a box action (Gymnasium MountainCarContinuous-v0), cap 999", spec,
      /*default_cap=*/999);
}

}  // namespace lzero
