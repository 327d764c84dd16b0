#include "envs/classic/cartpole.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "envs/classic/physics_state.h"
#include "envs/support/canvas.h"
#include "envs/support/numpy_random.h"
#include "lzero/base/status_macros.h"

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

constexpr std::array<PhysicsNumber, 4> kNumbers = {{{"x"}, {"x_dot"}, {"theta"}, {"theta_dot"}}};

constexpr int kWidth = 300;
constexpr int kHeight = 200;
constexpr Color kPaper = {250, 250, 248};
constexpr Color kTrack = {90, 90, 90};
constexpr Color kCart = {40, 44, 52};
constexpr Color kPole = {202, 152, 101};
constexpr Color kAxle = {129, 132, 203};

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
  return LoadPhysics(reader, kNumbers, absl::MakeSpan(state_));
}

std::vector<double> CartPole::GetPhysics() const { return {state_.begin(), state_.end()}; }

absl::Status CartPole::SetPhysics(const std::vector<double>& state) {
  LZ_RETURN_IF_ERROR(CheckPhysics(spec().id, kNumbers, state));
  std::copy(state.begin(), state.end(), state_.begin());
  return absl::OkStatus();
}

absl::StatusOr<std::string> CartPole::RenderText() const {
  constexpr int kColumns = 49;
  const auto place = [](double x) {
    const double share = std::clamp((x + kXLimit) / (2 * kXLimit), 0.0, 1.0);
    return static_cast<int>(std::lround(share * (kColumns - 1)));
  };
  std::string text;
  // The pole is four lines high and leans by sin(theta) of its length (1 m).
  for (int line = 4; line >= 1; --line) {
    std::string row(kColumns, ' ');
    row[place(state_[0] + std::sin(state_[2]) * line / 4.0)] = '|';
    absl::StrAppend(&text, row, "\n");
  }
  std::string track(kColumns, '-');
  track[place(state_[0])] = '#';
  absl::StrAppend(&text, track, "\nx ", state_[0], "  x_dot ", state_[1], "  theta ", state_[2],
                  "  theta_dot ", state_[3], "\n");
  return text;
}

absl::StatusOr<Image> CartPole::RenderRgb() const {
  constexpr double kScale = kWidth / (2 * kXLimit);  // pixels a metre
  constexpr double kFloor = 158.0;
  const Point axle = {kWidth / 2.0 + state_[0] * kScale, kFloor - 12.0};
  const double pole = 2 * kLength * kScale;
  const Point tip = {axle.x + pole * std::sin(state_[2]), axle.y - pole * std::cos(state_[2])};
  Image image(kWidth, kHeight, kPaper);
  Canvas canvas(&image);
  canvas.FillRectangle(0, kFloor, kWidth, 2, kTrack);
  canvas.FillRectangle(axle.x - 14.0, kFloor - 16.0, 28.0, 16.0, kCart);
  canvas.Line(axle, tip, 6.0, kPole);
  canvas.FillCircle(axle, 3.5, kAxle);
  return image;
}

}  // namespace lzero
