// CartPole-v1 by Gymnasium's rules: Euler steps of 0.02 s in double, in the reference's order of
// operations; start states uniform in (-0.05, 0.05) from NumPy's generator, so that a seed gives
// Gymnasium's start state; reward 1 also on the step that terminates; cap 500 unless set.
// Terminated and truncated can both be set at the cap, as in the reference. Action 1 pushes right.
// Observation {4}: x, x_dot, theta, theta_dot. [gymnasium/envs/classic_control/cartpole.py]
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "envs/classic/physics_env.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "envs/support/numpy_random.h"

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

// m and rad.
constexpr std::array<PhysicsNumber, 4> kNumbers = {{{"x"}, {"x_dot"}, {"theta"}, {"theta_dot"}}};

constexpr int kWidth = 300;
constexpr int kHeight = 200;
constexpr Color kPaper = {250, 250, 248};
constexpr Color kTrack = {90, 90, 90};
constexpr Color kCart = {40, 44, 52};
constexpr Color kPole = {202, 152, 101};
constexpr Color kAxle = {129, 132, 203};

class CartPole : public PhysicsEnv<kNumbers> {
 public:
  using PhysicsEnv::PhysicsEnv;

  // Cart and pole on a track, and the four numbers.
  absl::StatusOr<std::string> RenderText() const override {
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
  // 300 x 200 pixels.
  absl::StatusOr<Image> RenderRgb() const override {
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
  void StartGame(uint64_t seed) override {
    NumpyRandom random(seed);
    for (double& value : state_) value = random.Uniform(-0.05, 0.05);
  }
  Outcome Advance(const Action& action) override {
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
};

}  // namespace

EnvRegistry::Entry CartPoleEntry() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr double kX = kXLimit * 2, kTheta = kThetaLimit * 2;
  EnvSpec spec;
  spec.observation = {
      {4}, {-kX, -kInfinity, -kTheta, -kInfinity}, {kX, kInfinity, kTheta, kInfinity}};
  spec.action.num_actions = 2;
  spec.can_set_state = true;
  return CappedEntry<CartPole>("cartpole",
                               "balance a pole on a cart (Gymnasium CartPole-v1), cap 500", spec,
                               /*default_cap=*/500);
}

}  // namespace lzero
