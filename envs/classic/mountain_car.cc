#include "envs/classic/mountain_car.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "envs/classic/mountain_car_picture.h"
#include "envs/classic/physics_state.h"
#include "envs/support/numpy_random.h"
#include "lzero/base/status_macros.h"

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

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> MountainCar::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "mountain_car";
  spec.observation = {{2},
                      {static_cast<float>(kLeftEnd), static_cast<float>(-kMaxSpeed)},
                      {static_cast<float>(kRightEnd), static_cast<float>(kMaxSpeed)}};
  spec.action.num_actions = 3;
  spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : kDefaultCap;
  spec.can_save = true;
  spec.can_set_state = true;
  LZ_RETURN_IF_ERROR(CheckStepCap(spec.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new MountainCar(std::move(spec)));
}

void MountainCar::StartGame(uint64_t seed) {
  position_ = NumpyRandom(seed).Uniform(-0.6, -0.4);
  velocity_ = 0.0;
}

EpisodeEnv::Outcome MountainCar::Advance(const Action& action) {
  velocity_ += (action.index - 1) * kForce + std::cos(3 * position_) * -kGravity;
  velocity_ = std::clamp(velocity_, -kMaxSpeed, kMaxSpeed);
  position_ = std::clamp(position_ + velocity_, kLeftEnd, kRightEnd);
  // The left end is a wall.
  if (position_ == kLeftEnd && velocity_ < 0.0) velocity_ = 0.0;
  return {-1.0f, position_ >= kGoal && velocity_ >= 0.0};
}

void MountainCar::Observe(absl::Span<float> observation) const {
  observation[0] = static_cast<float>(position_);
  observation[1] = static_cast<float>(velocity_);
}

void MountainCar::SaveGame(StateWriter& writer) const {
  writer.Write(position_);
  writer.Write(velocity_);
}

absl::Status MountainCar::LoadGame(StateReader& reader) {
  std::array<double, 2> state = {};
  LZ_RETURN_IF_ERROR(LoadPhysics(reader, kNumbers, absl::MakeSpan(state)));
  position_ = state[0];
  velocity_ = state[1];
  return absl::OkStatus();
}

std::vector<double> MountainCar::GetPhysics() const { return {position_, velocity_}; }

absl::Status MountainCar::SetPhysics(const std::vector<double>& state) {
  LZ_RETURN_IF_ERROR(CheckPhysics(spec().id, kNumbers, state));
  position_ = state[0];
  velocity_ = state[1];
  return absl::OkStatus();
}

absl::StatusOr<std::string> MountainCar::RenderText() const {
  return MountainCarText(position_, velocity_, kGoal);
}

absl::StatusOr<Image> MountainCar::RenderRgb() const {
  return MountainCarPicture(position_, kGoal);
}

}  // namespace lzero
