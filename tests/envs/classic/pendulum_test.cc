#include <gtest/gtest.h>

#include <cmath>

#include "envs/entries.h"
#include "tests/envs/classic/golden_trace.h"

namespace lzero::pendulum_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *PendulumEntry().factory({cap, 0.0, 6}); }

struct After {
  TimeStep step;
  std::vector<double> state;
};

After StepFrom(const std::vector<double>& state, float torque) {
  const auto env = Make();
  EXPECT_TRUE(env->SetState(state).ok());
  const TimeStep step = *env->Step({0, {torque}});
  return {step, *env->GetState()};
}

// Gymnasium 1.4.0: env.reset(seed=s), env.unwrapped.state; the spaces of the environment.
TEST(PendulumTest, StartStatesAndSpacesAreTheReferences) {
  const auto env = Make();
  EXPECT_EQ(env->Reset(42).observation,
            (std::vector<float>{-0.14995256f, 0.9886932f, -0.12224312f}));
  EXPECT_EQ(*env->GetState(), (std::vector<double>{1.721316619099806, -0.12224312049589536}));
  env->Reset(~uint64_t{0});
  EXPECT_EQ(*env->GetState(), (std::vector<double>{1.131140984152447, 0.6906235171249486}));
  EXPECT_EQ(env->spec().observation.low, (std::vector<float>{-1.0f, -1.0f, -8.0f}));
  EXPECT_EQ(env->spec().observation.high, (std::vector<float>{1.0f, 1.0f, 8.0f}));
  EXPECT_EQ(env->spec().action.low, std::vector<float>{-2.0f});
  EXPECT_EQ(env->spec().action.high, std::vector<float>{2.0f});
}

// The rod is held upright in the other recording: played whole, a last bit would grow.
TEST(PendulumTest, EveryStepIsTheReferences) {
  ExpectTheReference(PendulumEntry().factory, "Pendulum-v1.jsonl", /*whole=*/true);
  ExpectTheReference(PendulumEntry().factory, "pendulum_cap200.jsonl", /*whole=*/false);
}

// From rest upright a torque of 2 turns by 6 / s^2 for 0.05 s; from the side gravity by 15 / s^2.
TEST(PendulumTest, OneStepByHand) {
  const After upright = StepFrom({0.0, 0.0}, 2.0f);
  EXPECT_NEAR(upright.state[1], 0.3, 1e-15);
  EXPECT_NEAR(upright.state[0], 0.015, 1e-15);
  EXPECT_FLOAT_EQ(upright.step.reward, -0.004f);
  const After side = StepFrom({M_PI / 2, 1.0}, 0.0f);
  EXPECT_NEAR(side.state[1], 1.75, 1e-15);
  EXPECT_NEAR(side.state[0], M_PI / 2 + 0.0875, 1e-15);
  EXPECT_FLOAT_EQ(side.step.reward, static_cast<float>(-(M_PI * M_PI / 4 + 0.1)));
  EXPECT_FLOAT_EQ(side.step.observation[0], static_cast<float>(-std::sin(0.0875)));
  EXPECT_FLOAT_EQ(side.step.observation[1], static_cast<float>(std::cos(0.0875)));
  EXPECT_FLOAT_EQ(side.step.observation[2], 1.75f);
}

TEST(PendulumTest, CountsTheAngleFromUprightWhateverTheTurns) {
  for (const double turns : {-3.0, -1.0, 0.0, 1.0, 7.0}) {
    for (const double angle : {-3.0, -1.0, 0.0, 0.5, 3.0}) {
      EXPECT_NEAR(StepFrom({angle + turns * 2 * M_PI, 0.0}, 0.0f).step.reward, -angle * angle,
                  1e-6);
    }
  }
}

TEST(PendulumTest, LimitsSpeedAndTorque) {
  EXPECT_EQ(StepFrom({M_PI / 2, 7.9}, 2.0f).state[1], 8.0);
  EXPECT_EQ(StepFrom({-M_PI / 2, -7.9}, -2.0f).state[1], -8.0);
  for (const float sign : {-1.0f, 1.0f}) {
    const After bound = StepFrom({1.0, 0.5}, 2.0f * sign);
    const After beyond = StepFrom({1.0, 0.5}, 9.0f * sign);
    EXPECT_EQ(bound.state, beyond.state);
    EXPECT_EQ(bound.step.reward, beyond.step.reward);
  }
}

TEST(PendulumTest, NeverTerminatesAndCapsAreTwoHundredOrAsGiven) {
  for (const int64_t cap : {int64_t{0}, int64_t{7}, int64_t{500}}) {
    const auto env = Make(cap);
    TimeStep step = env->Reset(3);
    int64_t num_steps = 0;
    while (!step.ended()) {
      step = *env->Step({0, {2.0f}});
      ++num_steps;
    }
    EXPECT_EQ(num_steps, cap == 0 ? 200 : cap);
    EXPECT_TRUE(step.truncated);
    EXPECT_FALSE(step.terminated);
  }
}

TEST(PendulumTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::vector<double> before = *env->GetState();
  EXPECT_EQ(env->SetState({0.0, 8.5}).message(),
            "a state of 'pendulum' is 2 finite numbers (theta, theta_dot), got 2 numbers; "
            "theta_dot is 8.5, outside -8 .. 8");
  EXPECT_TRUE(env->SetState({100.0, 8.0}).ok());
  EXPECT_TRUE(env->SetState(before).ok());
  std::string state = *env->Save();
  const std::string good = state;
  state.replace(state.size() - 4, 4, std::string("\0\0\x40\x40", 4));  // 3.0f
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'pendulum' is impossible: torque is 3, outside -2 .. 2");
  state = good;
  state.replace(state.size() - 20, 8, std::string(6, '\0') + "\xf0\x7f");  // infinity
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'pendulum' is impossible: theta is not finite");
  EXPECT_EQ(*env->GetState(), before);
}

TEST(PendulumTest, DrawsRodAndNumbers) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({M_PI / 2, 0.5}).ok());
  EXPECT_EQ(*env->RenderText(), "\n\n\n\n\nO*********+\n\n\n\n\n\ntheta 1.5708  theta_dot 0.5\n");
  ASSERT_TRUE(env->SetState({0.0, 0.0}).ok());
  const std::string blanks(10, ' ');
  EXPECT_EQ(*env->RenderText(), blanks + "O\n" + blanks + "*\n" + blanks + "*\n" + blanks + "*\n" +
                                    blanks + "*\n" + blanks +
                                    "+\n\n\n\n\n\ntheta 0  theta_dot 0\n");
}

// Red where the rod is; blue for the torque, to the left of the axle where it turns left.
TEST(PendulumTest, PaintsRodAndTorque) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({M_PI, 0.0}).ok());
  const Image still = *env->RenderRgb();
  ASSERT_EQ(still.width, 200);
  ASSERT_EQ(still.height, 200);
  const Color rod = still.at(100, 140);
  const Color paper = still.at(100, 60);
  EXPECT_NE(rod, paper);
  EXPECT_EQ(still.at(100, 170), rod);
  EXPECT_EQ(still.at(100, 185), paper);
  ASSERT_TRUE(env->Step({0, {2.0f}}).ok());
  const Image left = *env->RenderRgb();
  ASSERT_TRUE(env->SetState({M_PI, 0.0}).ok());
  ASSERT_TRUE(env->Step({0, {-2.0f}}).ok());
  const Image right = *env->RenderRgb();
  const Color arrow = left.at(72, 100);
  EXPECT_NE(arrow, paper);
  EXPECT_EQ(left.at(127, 100), paper);
  EXPECT_EQ(right.at(127, 100), arrow);
  EXPECT_EQ(right.at(72, 100), paper);
}

TEST(PendulumTest, SavesTheTorqueOfThePicture) {
  const auto env = Make();
  env->Reset(0);
  ASSERT_TRUE(env->Step({0, {1.5f}}).ok());
  const auto other = Make();
  ASSERT_TRUE(other->Load(*env->Save()).ok());
  EXPECT_EQ(other->RenderRgb()->pixels, env->RenderRgb()->pixels);
}

}  // namespace
}  // namespace lzero::pendulum_test
