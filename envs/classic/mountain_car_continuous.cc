#include "envs/classic/mountain_car_continuous.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "envs/classic/mountain_car_picture.h"
#include "envs/classic/physics_state.h"
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

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> MountainCarContinuous::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "mountain_car_continuous";
  spec.observation = {{2},
                      {static_cast<float>(kLeftEnd), static_cast<float>(-kMaxSpeed)},
                      {static_cast<float>(kRightEnd), static_cast<float>(kMaxSpeed)}};
  spec.action = {ActionKind::kBox, 0, {-1.0f}, {1.0f}};
  spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : kDefaultCap;
  spec.can_save = true;
  spec.can_set_state = true;
  LZ_RETURN_IF_ERROR(CheckStepCap(spec.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new MountainCarContinuous(std::move(spec)));
}

void MountainCarContinuous::StartGame(uint64_t seed) {
  position_ = NumpyRandom(seed).Uniform(-0.6, -0.4);
  velocity_ = 0.0;
  is_float32_ = false;
}

template <typename T>
void MountainCarContinuous::Move(float action) {
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

EpisodeEnv::Outcome MountainCarContinuous::Advance(const Action& action) {
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

void MountainCarContinuous::Observe(absl::Span<float> observation) const {
  observation[0] = static_cast<float>(position_);
  observation[1] = static_cast<float>(velocity_);
}

void MountainCarContinuous::SaveGame(StateWriter& writer) const {
  writer.Write(position_);
  writer.Write(velocity_);
  writer.Write(is_float32_);
}

absl::Status MountainCarContinuous::LoadGame(StateReader& reader) {
  const double position = reader.Read<double>();
  const double velocity = reader.Read<double>();
  const bool is_float32 = reader.Read<bool>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  const std::string problem = PhysicsProblem(kNumbers, {position, velocity});
  if (!problem.empty()) return reader.Impossible(problem);
  if (is_float32 && !(IsFloat32(position) && IsFloat32(velocity))) {
    return reader.Impossible("a number is not a float32 after a step");
  }
  position_ = position;
  velocity_ = velocity;
  is_float32_ = is_float32;
  return absl::OkStatus();
}

std::vector<double> MountainCarContinuous::GetPhysics() const { return {position_, velocity_}; }

absl::Status MountainCarContinuous::SetPhysics(const std::vector<double>& state) {
  LZ_RETURN_IF_ERROR(CheckPhysics(spec().id, kNumbers, state));
  position_ = state[0];
  velocity_ = state[1];
  is_float32_ = IsFloat32(position_) && IsFloat32(velocity_);
  return absl::OkStatus();
}

absl::StatusOr<std::string> MountainCarContinuous::RenderText() const {
  return MountainCarText(position_, velocity_, kGoal);
}

absl::StatusOr<Image> MountainCarContinuous::RenderRgb() const {
  return MountainCarPicture(position_, kGoal);
}

}  // namespace lzero
