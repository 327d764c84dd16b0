#include "envs/cartpole.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/numpy_random.h"

namespace lzero {
namespace {

constexpr double kGravity = 9.8;
constexpr double kMassPole = 0.1;
constexpr double kTotalMass = kMassPole + 1.0;
constexpr double kLength = 0.5;  // half the pole
constexpr double kPoleMassLength = kMassPole * kLength;
constexpr double kForce = 10.0;
constexpr double kTau = 0.02;  // seconds a step
constexpr double kThetaLimit = 12 * 2 * M_PI / 360;
constexpr double kXLimit = 2.4;

bool AllFinite(const double* values, size_t count) {
  return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> CartPole::Create(const EnvOptions& options) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float x = static_cast<float>(kXLimit * 2);
  const float theta = static_cast<float>(kThetaLimit * 2);
  EnvSpec spec;
  spec.id = "cartpole";
  spec.observation = {{4}, {-x, -kInfinity, -theta, -kInfinity}, {x, kInfinity, theta, kInfinity}};
  spec.action.num_actions = 2;
  spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : kDefaultCap;
  spec.can_save = true;
  spec.can_set_state = true;
  LZ_RETURN_IF_ERROR(CheckStepCap(spec.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new CartPole(std::move(spec)));
}

void CartPole::StartGame(uint64_t seed) {
  NumpyRandom random(seed);
  for (double& value : state_) value = random.Uniform(-0.05, 0.05);
}

EpisodeEnv::Outcome CartPole::Advance(const Action& action) {
  auto [x, x_dot, theta, theta_dot] = state_;
  const double force = action.index == 1 ? kForce : -kForce;
  const double cosine = std::cos(theta);
  const double sine = std::sin(theta);
  const double push = (force + kPoleMassLength * (theta_dot * theta_dot) * sine) / kTotalMass;
  const double theta_acceleration =
      (kGravity * sine - cosine * push) /
      (kLength * (4.0 / 3.0 - kMassPole * (cosine * cosine) / kTotalMass));
  const double x_acceleration = push - kPoleMassLength * theta_acceleration * cosine / kTotalMass;
  x = x + kTau * x_dot;
  x_dot = x_dot + kTau * x_acceleration;
  theta = theta + kTau * theta_dot;
  theta_dot = theta_dot + kTau * theta_acceleration;
  state_ = {x, x_dot, theta, theta_dot};
  const bool terminated =
      x < -kXLimit || x > kXLimit || theta < -kThetaLimit || theta > kThetaLimit;
  return {1.0f, terminated};
}

void CartPole::Observe(absl::Span<float> observation) const {
  for (size_t i = 0; i < state_.size(); ++i) observation[i] = static_cast<float>(state_[i]);
}

void CartPole::SaveGame(StateWriter& writer) const {
  for (const double value : state_) writer.Write(value);
}

absl::Status CartPole::LoadGame(StateReader& reader) {
  std::array<double, 4> state = {};
  for (double& value : state) value = reader.Read<double>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  if (!AllFinite(state.data(), state.size())) return reader.Impossible("a number is not finite");
  state_ = state;
  return absl::OkStatus();
}

std::vector<double> CartPole::GetPhysics() const { return {state_.begin(), state_.end()}; }

absl::Status CartPole::SetPhysics(const std::vector<double>& state) {
  if (state.size() != state_.size() || !AllFinite(state.data(), state.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("a state of 'cartpole' is 4 finite numbers (x, x_dot, theta, theta_dot), got ",
                     state.size(), " numbers", state.size() == 4 ? ", one not finite" : ""));
  }
  std::copy(state.begin(), state.end(), state_.begin());
  return absl::OkStatus();
}

absl::StatusOr<std::string> CartPole::RenderText() const {
  constexpr int kWidth = 49;
  const auto place = [](double x) {
    const double share = std::clamp((x + kXLimit) / (2 * kXLimit), 0.0, 1.0);
    return static_cast<int>(std::lround(share * (kWidth - 1)));
  };
  std::string text;
  // The pole is four lines high and leans by sin(theta) of its length (1 m).
  for (int line = 4; line >= 1; --line) {
    std::string row(kWidth, ' ');
    row[place(state_[0] + std::sin(state_[2]) * line / 4.0)] = '|';
    absl::StrAppend(&text, row, "\n");
  }
  std::string track(kWidth, '-');
  track[place(state_[0])] = '#';
  absl::StrAppend(&text, track, "\nx ", state_[0], "  x_dot ", state_[1], "  theta ", state_[2],
                  "  theta_dot ", state_[3], "\n");
  return text;
}

}  // namespace lzero
