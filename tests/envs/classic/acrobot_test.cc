#include <gtest/gtest.h>

#include <cmath>

#include "envs/entries.h"
#include "tests/envs/classic/golden_trace.h"

namespace lzero::acrobot_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *AcrobotEntry().factory({cap, 0.0, 6}); }

struct After {
  TimeStep step;
  std::vector<double> state;
};

After StepFrom(const std::vector<double>& state, int action) {
  const auto env = Make();
  EXPECT_TRUE(env->SetState(state).ok());
  const TimeStep step = *env->Step(Action::Discrete(action));
  return {step, *env->GetState()};
}

// Gymnasium 1.4.0: env.reset(seed=s), env.unwrapped.state; the spaces of the environment.
TEST(AcrobotTest, StartStatesAndSpacesAreTheReferences) {
  const auto env = Make();
  const TimeStep first = env->Reset(42);
  const std::vector<float> observed = {0.99849933f,   0.054763798f, 0.99992526f,
                                       -0.012224007f, 0.07171959f,  0.039473604f};
  for (int i = 0; i < 6; ++i) EXPECT_LE(UlpDistance(first.observation[i], observed[i]), 1);
  EXPECT_EQ(*env->GetState(), (std::vector<double>{0.05479120835661888, -0.01222431194037199,
                                                   0.07171958684921265, 0.039473604410886765}));
  env->Reset(~uint64_t{0});
  EXPECT_EQ(*env->GetState(), (std::vector<double>{0.03600533679127693, 0.06906235218048096,
                                                   -0.09851938486099243, 0.0789136216044426}));
  EXPECT_EQ(env->spec().observation.high,
            (std::vector<float>{1, 1, 1, 1, 12.566370964050293f, 28.274333953857422f}));
  EXPECT_EQ(env->spec().observation.low,
            (std::vector<float>{-1, -1, -1, -1, -12.566370964050293f, -28.274333953857422f}));
  EXPECT_EQ(env->spec().action.num_actions, 3);
}

TEST(AcrobotTest, EveryStepIsTheReferences) {
  ExpectTheReference(AcrobotEntry().factory, "acrobot_cap500.jsonl", /*whole=*/false);
}

// The energy of two links of mass and moment 1, lengths 1, centres of mass in their middles.
double EnergyOf(const std::vector<double>& state) {
  const double first = state[2];
  const double second = state[2] + state[3];
  const double cosine = std::cos(state[1]);
  const double moving = 0.5 * (0.25 + 1.0) * first * first +
                        0.5 * (first * first + 0.25 * second * second + first * second * cosine) +
                        0.5 * second * second;
  const double height =
      -0.5 * std::cos(state[0]) - std::cos(state[0]) - 0.5 * std::cos(state[0] + state[1]);
  return moving + 9.8 * height;
}

// Without a torque energy stays, but for the error of a step of 0.2 s; with one it does not.
TEST(AcrobotTest, EnergyStaysWithoutATorque) {
  const std::vector<double> start = {0.5, -0.3, 0.1, 0.2};
  EXPECT_NEAR(EnergyOf(StepFrom(start, 1).state), EnergyOf(start), 1e-3);
  EXPECT_GT(EnergyOf(StepFrom({0.0, 0.0, 0.0, 2.0}, 2).state),
            EnergyOf({0.0, 0.0, 0.0, 2.0}) + 0.2);
  EXPECT_LT(EnergyOf(StepFrom({0.0, 0.0, 0.0, 2.0}, 0).state),
            EnergyOf({0.0, 0.0, 0.0, 2.0}) - 0.2);
}

TEST(AcrobotTest, TheMirrorImageMovesAsTheImage) {
  const std::vector<double> start = {0.4, -1.2, 1.5, -2.5};
  std::vector<double> mirrored;
  for (const double value : start) mirrored.push_back(-value);
  for (const int action : {0, 1, 2}) {
    const After moved = StepFrom(start, action);
    const After image = StepFrom(mirrored, 2 - action);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(moved.state[i], -image.state[i], 1e-12);
  }
}

TEST(AcrobotTest, AnglesWrapAndSpeedsAreLimited) {
  // Fast turning links come past the top.
  const After around = StepFrom({3.0, -3.0, 4.0, -9.0}, 1);
  EXPECT_LT(around.state[0], -2.0);
  EXPECT_GT(around.state[1], 1.0);
  EXPECT_FLOAT_EQ(around.step.observation[1], static_cast<float>(std::sin(around.state[0])));
  EXPECT_FLOAT_EQ(around.step.observation[2], static_cast<float>(std::cos(around.state[1])));
  for (const double sign : {-1.0, 1.0}) {
    const After fast = StepFrom({0.0, 2.0, sign * 12.5, sign * 28.0}, 1);
    for (const double speed : {std::fabs(fast.state[2]) / 4, std::fabs(fast.state[3]) / 9}) {
      EXPECT_LE(speed, M_PI);
    }
  }
}

// The free end is at -cos(theta1) - cos(theta1 + theta2): upright 2, both level 0.
TEST(AcrobotTest, AboveTheLineTerminatesAndPaysNothing) {
  const After above = StepFrom({3.1, 0.0, 0.0, 0.0}, 1);
  EXPECT_TRUE(above.step.terminated);
  EXPECT_EQ(above.step.reward, 0.0f);
  const After level = StepFrom({M_PI / 2, 0.0, 0.0, 0.0}, 1);
  EXPECT_FALSE(level.step.terminated);
  EXPECT_EQ(level.step.reward, -1.0f);
  // The first link up and the second hanging from it: height 0.
  EXPECT_FALSE(StepFrom({3.1, 3.1, 0.0, 0.0}, 1).step.terminated);
}

TEST(AcrobotTest, CapsAreFiveHundredOrAsGiven) {
  for (const int64_t cap : {int64_t{0}, int64_t{7}}) {
    const auto env = Make(cap);
    TimeStep step = env->Reset(3);
    int64_t num_steps = 0;
    while (!step.ended()) {
      step = *env->Step(Action::Discrete(1));
      ++num_steps;
    }
    EXPECT_EQ(num_steps, cap == 0 ? 500 : cap);
    EXPECT_TRUE(step.truncated);
    EXPECT_FALSE(step.terminated);
    EXPECT_EQ(step.episode_return, -static_cast<double>(num_steps));
  }
}

TEST(AcrobotTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::vector<double> before = *env->GetState();
  EXPECT_EQ(
      env->SetState({0.0, 4.0, 0.0, 0.0}).message(),
      "a state of 'acrobot' is 4 finite numbers (theta1, theta2, theta1_dot, theta2_dot), got "
      "4 numbers; theta2 is 4, outside -3.14159 .. 3.14159");
  std::string state = *env->Save();
  state.replace(state.size() - 8, 8, std::string(6, '\0') + "\x3e\x40");  // 30.0
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'acrobot' is impossible: theta2_dot is 30, outside -28.2743 .. "
            "28.2743");
  EXPECT_EQ(*env->GetState(), before);
}

TEST(AcrobotTest, DrawsLinksAndNumbers) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.0, M_PI / 2, 0.0, 0.0}).ok());
  const std::string blanks(16, ' ');
  EXPECT_EQ(*env->RenderText(), "\n\n\n\n" + std::string(33, '-') + "\n\n\n\n" + blanks + "+\n" +
                                    blanks + "*\n" + blanks + "*\n" + blanks + "*\n" + blanks +
                                    "o*******O\n\n\n\n\ntheta1 0  theta2 1.5708  theta1_dot 0  "
                                    "theta2_dot 0\n");
}

// A link is 45 pixels long.
TEST(AcrobotTest, PaintsLinksAndTheGoalLine) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.0, M_PI / 2, 0.0, 0.0}).ok());
  const Image image = *env->RenderRgb();
  ASSERT_EQ(image.width, 200);
  ASSERT_EQ(image.height, 200);
  const Color paper = image.at(40, 130);
  EXPECT_NE(image.at(10, 54), paper);    // the line
  EXPECT_NE(image.at(100, 125), paper);  // the first link
  EXPECT_NE(image.at(125, 145), paper);  // the second, to the right
  EXPECT_EQ(image.at(75, 145), paper);
  EXPECT_EQ(image.at(100, 175), paper);
  EXPECT_EQ(image.at(100, 99), image.at(100, 145));  // joints
}

}  // namespace
}  // namespace lzero::acrobot_test
