// Pendulum-v1 by Gymnasium's rules: swing a rod up and hold it; double, in the reference's order of
// operations; start angle uniform in (-pi, pi) and velocity in (-1, 1) from NumPy's generator, so
// that a seed gives Gymnasium's start state. Reward -(angle^2 + 0.1 velocity^2 + 0.001 torque^2) of
// the state before the step; it never terminates; cap 200 unless set.
// Action {1}: torque from -2 to 2, clipped, counted so in the reward; positive is
// counter-clockwise. Observation {3}: cos theta, sin theta, theta_dot; theta is 0 upright.
// [gymnasium/envs/classic_control/pendulum.py]
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "envs/classic/physics_env.h"
#include "envs/classic/text_canvas.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "envs/support/numpy_random.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr double kMaxSpeed = 8.0;
constexpr float kMaxTorque = 2.0f;
constexpr double kTau = 0.05;  // seconds a step
constexpr double kGravity = 10.0;
constexpr double kMass = 1.0;
constexpr double kLength = 1.0;

constexpr std::array<PhysicsNumber, 2> kNumbers = {
    {{"theta"}, {"theta_dot", -kMaxSpeed, kMaxSpeed}}};

constexpr int kPixels = 200;
constexpr Color kPaper = {250, 250, 248};
constexpr Color kRod = {204, 77, 77};
constexpr Color kAxle = {30, 30, 30};
constexpr Color kArrow = {70, 90, 160};

// The same angle in -pi .. pi, by Python's remainder, which has the sign of the divisor.
double Normalized(double angle) {
  double rest = std::fmod(angle + M_PI, 2 * M_PI);
  if (rest < 0.0) rest += 2 * M_PI;
  return rest - M_PI;
}

// An arc around `center` that points the way `torque` turns, larger for a larger one.
void DrawTorque(Canvas& canvas, Point center, float torque) {
  const double size = std::fabs(torque) / kMaxTorque;
  if (size == 0.0) return;
  const double radius = 14.0 + 14.0 * size;
  const double turn = torque > 0.0f ? 1.0 : -1.0;
  const auto at = [&](double share, double distance) {
    const double angle = turn * (-0.8 + 2.4 * share);
    return Point{center.x - distance * std::sin(angle), center.y - distance * std::cos(angle)};
  };
  constexpr int kNumParts = 24;
  for (int i = 0; i < kNumParts; ++i) {
    const double share = static_cast<double>(i) / kNumParts;
    canvas.Line(at(share, radius), at(share + 1.2 / kNumParts, radius), 2.0, kArrow);
  }
  canvas.FillPolygon({at(1.0, radius - 6), at(1.0, radius + 6), at(1.0 + 4.5 / radius, radius)},
                     kArrow);
}

class Pendulum : public PhysicsEnv<kNumbers> {
 public:
  using PhysicsEnv::PhysicsEnv;

  // Axle '+', rod '*' and its end 'O', then the two numbers.
  absl::StatusOr<std::string> RenderText() const override {
    constexpr Point kMiddle = {10.0, 5.0};
    // A character is about twice as high as wide.
    const Point end = {kMiddle.x - 10.0 * std::sin(theta_), kMiddle.y - 5.0 * std::cos(theta_)};
    TextCanvas canvas(21, 11);
    canvas.Line(kMiddle, end, '*');
    canvas.Put(kMiddle, '+');
    canvas.Put(end, 'O');
    return absl::StrCat(canvas.Text(), "theta ", theta_, "  theta_dot ", theta_dot_, "\n");
  }
  // 200 x 200 pixels: the rod, and an arrow around the axle for the last torque.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr double kRodPixels = 70.0;
    constexpr double kHalfWidth = 8.0;
    Image image(kPixels, kPixels, kPaper);
    Canvas canvas(&image);
    const Point axle = {kPixels / 2.0, kPixels / 2.0};
    const Point end = {axle.x - kRodPixels * std::sin(theta_),
                       axle.y - kRodPixels * std::cos(theta_)};
    canvas.Line(axle, end, 2 * kHalfWidth, kRod);
    canvas.FillCircle(axle, kHalfWidth, kRod);
    canvas.FillCircle(end, kHalfWidth, kRod);
    DrawTorque(canvas, axle, torque_);
    canvas.FillCircle(axle, 3.5, kAxle);
    return image;
  }
  void StartGame(uint64_t seed) override {
    NumpyRandom random(seed);
    theta_ = random.Uniform(-M_PI, M_PI);
    theta_dot_ = random.Uniform(-1.0, 1.0);
    torque_ = 0.0f;
  }
  Outcome Advance(const Action& action) override {
    torque_ = ClippedValue(action, 0);
    const double angle = Normalized(theta_);
    // NumPy keeps what is made of the torque and Python's numbers in float32.
    const double cost =
        angle * angle + 0.1 * (theta_dot_ * theta_dot_) + 0.001f * (torque_ * torque_);
    const double push = static_cast<float>(3.0 / (kMass * (kLength * kLength))) * torque_;
    theta_dot_ += (3 * kGravity / (2 * kLength) * std::sin(theta_) + push) * kTau;
    theta_dot_ = std::clamp(theta_dot_, -kMaxSpeed, kMaxSpeed);
    theta_ += theta_dot_ * kTau;
    return {static_cast<float>(-cost), false};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(std::cos(theta_));
    observation[1] = static_cast<float>(std::sin(theta_));
    observation[2] = static_cast<float>(theta_dot_);
  }
  void SaveGame(StateWriter& writer) const override {
    PhysicsEnv::SaveGame(writer);
    writer.Write(torque_);
  }
  absl::Status LoadGame(StateReader& reader) override {
    const std::array<double, 2> state = {reader.Read<double>(), reader.Read<double>()};
    const float torque = reader.Read<float>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    const std::string problem = PhysicsProblem(kNumbers, state);
    if (!problem.empty()) return reader.Impossible(problem);
    if (!(std::fabs(torque) <= kMaxTorque)) {
      return reader.Impossible(
          absl::StrCat("torque is ", torque, ", outside ", -kMaxTorque, " .. ", kMaxTorque));
    }
    state_ = state;
    torque_ = torque;
    return absl::OkStatus();
  }
  absl::Status SetPhysics(const std::vector<double>& state) override {
    LZ_RETURN_IF_ERROR(PhysicsEnv::SetPhysics(state));
    torque_ = 0.0f;
    return absl::OkStatus();
  }

 private:
  double& theta_ = state_[0];  // rad, counter-clockwise, not wrapped
  double& theta_dot_ = state_[1];
  float torque_ = 0.0f;  // of the last step, for the picture
};

}  // namespace

EnvRegistry::Entry PendulumEntry() {
  EnvSpec spec;
  spec.observation = {{3}, {-1.0f, -1.0f, -kMaxSpeed}, {1.0f, 1.0f, kMaxSpeed}};
  spec.action = {ActionKind::kBox, 0, {-kMaxTorque}, {kMaxTorque}};
  spec.can_set_state = true;
  return CappedEntry<Pendulum>("pendulum",
                               "swing up and hold a rod (Gymnasium Pendulum-v1), cap 200", spec,
                               /*default_cap=*/200);
}

}  // namespace lzero
