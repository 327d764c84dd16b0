#include <gtest/gtest.h>

#include <cmath>

#include "envs/classic/mountain_car_picture.h"
#include "envs/entries.h"
#include "tests/envs/classic/golden_trace.h"

namespace lzero::mountain_car_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *MountainCarEntry().factory({cap, 0.0, 6}); }

TimeStep StepFrom(const std::vector<double>& state, int action) {
  const auto env = Make();
  EXPECT_TRUE(env->SetState(state).ok());
  return *env->Step(Action::Discrete(action));
}

std::vector<double> StateAfter(const std::vector<double>& state, int action) {
  const auto env = Make();
  EXPECT_TRUE(env->SetState(state).ok());
  EXPECT_TRUE(env->Step(Action::Discrete(action)).ok());
  return *env->GetState();
}

// Gymnasium 1.4.0: env.reset(seed=s), env.unwrapped.state; the spaces of the environment.
TEST(MountainCarTest, StartStatesAndSpacesAreTheReferences) {
  const auto env = Make();
  EXPECT_EQ(env->Reset(42).observation, (std::vector<float>{-0.4452088f, 0.0f}));
  EXPECT_EQ(*env->GetState(), (std::vector<double>{-0.44520879028880733, 0.0}));
  env->Reset(~uint64_t{0});
  EXPECT_EQ(*env->GetState(), (std::vector<double>{-0.4639946642076614, 0.0}));
  EXPECT_EQ(env->spec().observation.low,
            (std::vector<float>{-1.2000000476837158f, -0.07000000029802322f}));
  EXPECT_EQ(env->spec().observation.high,
            (std::vector<float>{0.6000000238418579f, 0.07000000029802322f}));
  EXPECT_EQ(env->spec().action.num_actions, 3);
}

TEST(MountainCarTest, EveryStepIsTheReferences) {
  ExpectTheReference(MountainCarEntry().factory, "mountain_car_cap200.jsonl", /*whole=*/true);
}

// cos(1.5) = 0.0707372016677029, by which gravity takes 0.000176843004169.
TEST(MountainCarTest, OneStepByHand) {
  for (const int action : {0, 1, 2}) {
    const std::vector<double> state = StateAfter({-0.5, 0.01}, action);
    const double velocity = 0.01 + 0.001 * (action - 1) - 0.000176843004169257;
    EXPECT_NEAR(state[1], velocity, 1e-15);
    EXPECT_NEAR(state[0], -0.5 + velocity, 1e-15);
  }
}

TEST(MountainCarTest, TheLeftEndIsAWallAndSpeedIsLimited) {
  EXPECT_EQ(StateAfter({-1.19, -0.05}, 0), (std::vector<double>{-1.2, 0.0}));
  // At -pi / 3 gravity pulls to the right by 0.0025, at 0 to the left.
  EXPECT_EQ(StateAfter({-1.047, 0.0699}, 2)[1], 0.07);
  EXPECT_EQ(StateAfter({0.0, -0.0699}, 0)[1], -0.07);
  EXPECT_EQ(StateAfter({0.59, 0.05}, 1)[0], 0.6);
}

TEST(MountainCarTest, TheFlagTerminatesAndCostsOneAsEveryStep) {
  for (const std::vector<double>& state : {std::vector<double>{0.46, 0.05}, {0.59, 0.05}}) {
    const TimeStep step = StepFrom(state, 2);
    EXPECT_TRUE(step.terminated);
    EXPECT_FALSE(step.truncated);
    EXPECT_EQ(step.reward, -1.0f);
    EXPECT_EQ(step.legal_action_mask, (std::vector<uint8_t>{0, 0, 0}));
  }
  EXPECT_FALSE(StepFrom({0.44, 0.05}, 2).terminated);
  EXPECT_EQ(StepFrom({0.44, 0.05}, 2).reward, -1.0f);
  // Beyond the flag, rolling back.
  EXPECT_FALSE(StepFrom({0.58, -0.02}, 0).terminated);
}

// Single steps of Gymnasium 1.4.0 that end at 0.5 and at the number before it.
TEST(MountainCarTest, TheFlagItselfCounts) {
  EXPECT_EQ(StateAfter({0.472687284882248, 0.027693068461197696}, 1)[0], 0.5);
  EXPECT_TRUE(StepFrom({0.472687284882248, 0.027693068461197696}, 1).terminated);
  EXPECT_EQ(StateAfter({0.472687284882248, 0.027693068461197633}, 1)[0], std::nextafter(0.5, 0.0));
  EXPECT_FALSE(StepFrom({0.472687284882248, 0.027693068461197633}, 1).terminated);
}

TEST(MountainCarTest, CapsAreTwoHundredOrAsGiven) {
  for (const int64_t cap : {int64_t{0}, int64_t{7}, int64_t{500}}) {
    const auto env = Make(cap);
    TimeStep step = env->Reset(3);
    int64_t num_steps = 0;
    while (!step.ended()) {
      step = *env->Step(Action::Discrete(1));
      ++num_steps;
    }
    EXPECT_EQ(num_steps, cap == 0 ? 200 : cap);
    EXPECT_TRUE(step.truncated);
    EXPECT_FALSE(step.terminated);
    EXPECT_EQ(step.episode_return, -static_cast<double>(num_steps));
  }
}

TEST(MountainCarTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::vector<double> before = *env->GetState();
  EXPECT_EQ(env->SetState({-0.5}).message(),
            "a state of 'mountain_car' is 2 finite numbers (position, velocity), got 1 numbers");
  EXPECT_EQ(env->SetState({-1.3, 0.0}).message(),
            "a state of 'mountain_car' is 2 finite numbers (position, velocity), got 2 numbers; "
            "position is -1.3, outside -1.2 .. 0.6");
  std::string state = *env->Save();
  state.replace(state.size() - 8, 8, std::string(6, '\0') + "\xf0\x3f");  // 1.0
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'mountain_car' is impossible: velocity is 1, outside -0.07 .. 0.07");
  EXPECT_EQ(*env->GetState(), before);
}

TEST(MountainCarTest, DrawsItself) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({-0.9, 0.01}).ok());
  EXPECT_EQ(*env->RenderText(), MountainCarText(-0.9, 0.01, 0.5));
  EXPECT_EQ(env->RenderRgb()->pixels, MountainCarPicture(-0.9, 0.5).pixels);
}

}  // namespace
}  // namespace lzero::mountain_car_test
