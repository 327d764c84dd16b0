// Acrobot-v1 by Gymnasium's rules: two links hang from a fixed joint; a torque at the joint between
// them must swing the free end one length above the fixed joint. One Runge-Kutta step of 0.2 s in
// double, in the reference's order of operations, with the equations of the book; start states
// uniform in (-0.1, 0.1) from NumPy's generator, rounded to float32, so that a seed gives
// Gymnasium's start state; reward -1 a step and 0 on the step that reaches the goal; cap 500 unless
// set. Actions 0, 1, 2 are torques -1, 0, 1. Observation {6}: cos, sin of theta1, cos, sin of
// theta2, theta1_dot, theta2_dot. [gymnasium/envs/classic_control/acrobot.py; Sutton & Barto 2018]
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "envs/classic/physics_env.h"
#include "envs/classic/text_canvas.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "envs/support/numpy_random.h"

namespace lzero {
namespace {

using State = std::array<double, 4>;

constexpr double kTau = 0.2;  // seconds a step
constexpr double kGravity = 9.8;
constexpr double kMass1 = 1.0, kMass2 = 1.0;
constexpr double kLength1 = 1.0;
constexpr double kCenter1 = 0.5, kCenter2 = 0.5;    // of mass, from the upper end of a link
constexpr double kInertia1 = 1.0, kInertia2 = 1.0;  // moments
constexpr double kMaxSpeed1 = 4 * M_PI, kMaxSpeed2 = 9 * M_PI;

// Angles in rad: of the first link, 0 hangs down; of the second one relative to the first.
constexpr std::array<PhysicsNumber, 4> kNumbers = {{{"theta1", -M_PI, M_PI},
                                                    {"theta2", -M_PI, M_PI},
                                                    {"theta1_dot", -kMaxSpeed1, kMaxSpeed1},
                                                    {"theta2_dot", -kMaxSpeed2, kMaxSpeed2}}};

constexpr int kPixels = 200;
constexpr Color kPaper = {250, 250, 248};
constexpr Color kGoalLine = {60, 60, 60};
constexpr Color kUpperLink = {0, 168, 176};
constexpr Color kLowerLink = {64, 196, 204};
constexpr Color kJoint = {204, 178, 0};

// NumPy squares numbers with the C library's pow, which is off x * x in the last bit once in a
// thousand. The exponent is volatile because compilers would put x * x in its place.
double NumpySquare(double x) {
  static const volatile double exponent = 2.0;
  return std::pow(x, exponent);
}

// d(state)/dt under `torque`.
State Derivative(const State& state, double torque) {
  const auto [theta1, theta2, dtheta1, dtheta2] = state;
  const double cosine = std::cos(theta2);
  const double sine = std::sin(theta2);
  const double d1 =
      kMass1 * (kCenter1 * kCenter1) +
      kMass2 * (kLength1 * kLength1 + kCenter2 * kCenter2 + 2 * kLength1 * kCenter2 * cosine) +
      kInertia1 + kInertia2;
  const double d2 = kMass2 * (kCenter2 * kCenter2 + kLength1 * kCenter2 * cosine) + kInertia2;
  const double phi2 = kMass2 * kCenter2 * kGravity * std::cos(theta1 + theta2 - M_PI / 2.0);
  const double phi1 =
      -kMass2 * kLength1 * kCenter2 * NumpySquare(dtheta2) * sine -
      2 * kMass2 * kLength1 * kCenter2 * dtheta2 * dtheta1 * sine +
      (kMass1 * kCenter1 + kMass2 * kLength1) * kGravity * std::cos(theta1 - M_PI / 2) + phi2;
  const double ddtheta2 = (torque + d2 / d1 * phi1 -
                           kMass2 * kLength1 * kCenter2 * NumpySquare(dtheta1) * sine - phi2) /
                          (kMass2 * (kCenter2 * kCenter2) + kInertia2 - NumpySquare(d2) / d1);
  const double ddtheta1 = -(d2 * ddtheta2 + phi1) / d1;
  return {dtheta1, dtheta2, ddtheta1, ddtheta2};
}

// state + factor * slope.
State Moved(const State& state, double factor, const State& slope) {
  State moved;
  for (size_t i = 0; i < state.size(); ++i) moved[i] = state[i] + factor * slope[i];
  return moved;
}

// One step of the classical Runge-Kutta method.
State Integrate(const State& state, double torque) {
  const State k1 = Derivative(state, torque);
  const State k2 = Derivative(Moved(state, kTau / 2.0, k1), torque);
  const State k3 = Derivative(Moved(state, kTau / 2.0, k2), torque);
  const State k4 = Derivative(Moved(state, kTau, k3), torque);
  State sum;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i];
  return Moved(state, kTau / 6.0, sum);
}

double Wrapped(double angle) {
  while (angle > M_PI) angle -= 2 * M_PI;
  while (angle < -M_PI) angle += 2 * M_PI;
  return angle;
}

// Where the ends of the links are, in lengths, y upward.
struct Ends {
  Point middle;
  Point free;
};

Ends EndsOf(const State& state) {
  const Point middle = {std::sin(state[0]), -std::cos(state[0])};
  const double angle = state[0] + state[1];
  return {middle, {middle.x + std::sin(angle), middle.y - std::cos(angle)}};
}

class Acrobot : public PhysicsEnv<kNumbers> {
 public:
  using PhysicsEnv::PhysicsEnv;

  // Joints '+' and 'o', links '*', free end 'O', the goal line '-', then the four numbers.
  absl::StatusOr<std::string> RenderText() const override {
    constexpr Point kMiddle = {16.0, 8.0};
    // A character is about twice as high as wide; a link is 4 lines long.
    const auto place = [&](Point end) {
      return Point{kMiddle.x + 8.0 * end.x, kMiddle.y - 4.0 * end.y};
    };
    const Ends ends = EndsOf(state_);
    TextCanvas canvas(33, 17);
    canvas.Line(place({-2.0, 1.0}), place({2.0, 1.0}), '-');
    canvas.Line(kMiddle, place(ends.middle), '*');
    canvas.Line(place(ends.middle), place(ends.free), '*');
    canvas.Put(kMiddle, '+');
    canvas.Put(place(ends.middle), 'o');
    canvas.Put(place(ends.free), 'O');
    return absl::StrCat(canvas.Text(), "theta1 ", state_[0], "  theta2 ", state_[1],
                        "  theta1_dot ", state_[2], "  theta2_dot ", state_[3], "\n");
  }
  // 200 x 200 pixels.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr double kScale = kPixels / 4.4;  // pixels a length
    constexpr double kHalfWidth = 4.5;
    const auto place = [](Point end) {
      return Point{kPixels / 2.0 + kScale * end.x, kPixels / 2.0 - kScale * end.y};
    };
    const Ends ends = EndsOf(state_);
    Image image(kPixels, kPixels, kPaper);
    Canvas canvas(&image);
    canvas.Line(place({-2.2, 1.0}), place({2.2, 1.0}), 2.0, kGoalLine);
    canvas.Line(place({}), place(ends.middle), 2 * kHalfWidth, kUpperLink);
    canvas.Line(place(ends.middle), place(ends.free), 2 * kHalfWidth, kLowerLink);
    canvas.FillCircle(place(ends.free), kHalfWidth, kLowerLink);
    canvas.FillCircle(place({}), kHalfWidth + 1.0, kJoint);
    canvas.FillCircle(place(ends.middle), kHalfWidth + 1.0, kJoint);
    return image;
  }
  void StartGame(uint64_t seed) override {
    NumpyRandom random(seed);
    for (double& value : state_) value = RoundToFloat32(random.Uniform(-0.1, 0.1));
  }
  Outcome Advance(const Action& action) override {
    state_ = Integrate(state_, action.index - 1.0);
    state_[0] = Wrapped(state_[0]);
    state_[1] = Wrapped(state_[1]);
    state_[2] = std::clamp(state_[2], -kMaxSpeed1, kMaxSpeed1);
    state_[3] = std::clamp(state_[3], -kMaxSpeed2, kMaxSpeed2);
    const bool terminated = -std::cos(state_[0]) - std::cos(state_[1] + state_[0]) > 1.0;
    return {terminated ? 0.0f : -1.0f, terminated};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(std::cos(state_[0]));
    observation[1] = static_cast<float>(std::sin(state_[0]));
    observation[2] = static_cast<float>(std::cos(state_[1]));
    observation[3] = static_cast<float>(std::sin(state_[1]));
    observation[4] = static_cast<float>(state_[2]);
    observation[5] = static_cast<float>(state_[3]);
  }
};

}  // namespace

EnvRegistry::Entry AcrobotEntry() {
  EnvSpec spec;
  spec.observation = {{6},
                      {-1.0f, -1.0f, -1.0f, -1.0f, -kMaxSpeed1, -kMaxSpeed2},
                      {1.0f, 1.0f, 1.0f, 1.0f, kMaxSpeed1, kMaxSpeed2}};
  spec.action.num_actions = 3;
  spec.can_set_state = true;
  return CappedEntry<Acrobot>("acrobot",
                              "swing up two links by their joint (Gymnasium Acrobot-v1), cap 500",
                              spec, /*default_cap=*/500);
}

}  // namespace lzero
