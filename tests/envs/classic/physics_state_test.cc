#include "envs/classic/physics_state.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace lzero::physics_state_test {
namespace {

constexpr std::array<PhysicsNumber, 2> kNumbers = {{{"angle"}, {"speed", -2.0, 8.0}}};

TEST(PhysicsStateTest, TakesFiniteNumbersInsideTheirBounds) {
  for (const std::vector<double>& state :
       {std::vector<double>{0.0, 0.0}, {-1e300, -2.0}, {1e300, 8.0}}) {
    EXPECT_EQ(PhysicsProblem(kNumbers, state), "");
    EXPECT_TRUE(CheckPhysics("swing", kNumbers, state).ok());
  }
}

TEST(PhysicsStateTest, LoadsAllOrNothing) {
  std::array<double, 2> state = {1.0, 2.0};
  const auto load = [&](const std::vector<double>& saved) {
    StateWriter writer("swing");
    for (const double value : saved) writer.Write(value);
    const std::string bytes = writer.Take();
    StateReader reader("swing", bytes);
    return LoadPhysics(reader, kNumbers, absl::MakeSpan(state));
  };
  for (const std::vector<double>& bad :
       {std::vector<double>{0.5}, {0.5, 8.5}, {0.5, 3.0, 0.0}, {std::nan(""), 3.0}}) {
    EXPECT_EQ(load(bad).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(state, (std::array<double, 2>{1.0, 2.0}));
  }
  EXPECT_TRUE(load({0.5, 8.0}).ok());
  EXPECT_EQ(state, (std::array<double, 2>{0.5, 8.0}));
}

TEST(PhysicsStateTest, SaysWhatIsWrong) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(PhysicsProblem(kNumbers, {-infinity, 0.0}), "angle is not finite");
  EXPECT_EQ(PhysicsProblem(kNumbers, {0.0, std::numeric_limits<double>::quiet_NaN()}),
            "speed is not finite");
  EXPECT_EQ(PhysicsProblem(kNumbers, {0.0, 8.5}), "speed is 8.5, outside -2 .. 8");
  EXPECT_EQ(PhysicsProblem(kNumbers, {0.0, -3.0}), "speed is -3, outside -2 .. 8");
}

TEST(PhysicsStateTest, RefusesStatesByName) {
  EXPECT_EQ(CheckPhysics("swing", kNumbers, {1.0}).message(),
            "a state of 'swing' is 2 finite numbers (angle, speed), got 1 numbers");
  const absl::Status status = CheckPhysics("swing", kNumbers, {1.0, 9.0});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "a state of 'swing' is 2 finite numbers (angle, speed), got 2 numbers; speed is 9, "
            "outside -2 .. 8");
}

// 0.1 is 0x3fb999999999999a in double and 0x3dcccccd, a little more, in float32.
TEST(PhysicsStateTest, RoundsToFloat32) {
  EXPECT_EQ(RoundToFloat32(0.1), 0x1.99999ap-4);
  EXPECT_EQ(RoundToFloat32(-0.75), -0.75);
  std::array<double, 2> neighbours = {0.1, -0.3};
  for (double& value : neighbours) value = RoundToFloat32(value);
  EXPECT_EQ(neighbours, (std::array<double, 2>{0x1.99999ap-4, -0x1.333334p-2}));
}

}  // namespace
}  // namespace lzero::physics_state_test
