#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "envs/classic/mountain_car_picture.h"
#include "envs/entries.h"
#include "tests/envs/classic/golden_trace.h"

namespace lzero::mountain_car_continuous_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) {
  return *MountainCarContinuousEntry().factory({cap, 0.0, 6});
}

struct After {
  TimeStep step;
  std::vector<double> state;
};

After StepFrom(const std::vector<double>& state, float force) {
  const auto env = Make();
  EXPECT_TRUE(env->SetState(state).ok());
  const TimeStep step = *env->Step({0, {force}});
  return {step, *env->GetState()};
}

// Gymnasium 1.4.0: env.reset(seed=s), env.unwrapped.state; the spaces of the environment.
TEST(MountainCarContinuousTest, StartStatesAndSpacesAreTheReferences) {
  const auto env = Make();
  EXPECT_EQ(env->Reset(42).observation, (std::vector<float>{-0.4452088f, 0.0f}));
  EXPECT_EQ(*env->GetState(), (std::vector<double>{-0.44520879028880733, 0.0}));
  env->Reset(~uint64_t{0});
  EXPECT_EQ(*env->GetState(), (std::vector<double>{-0.4639946642076614, 0.0}));
  EXPECT_EQ(env->spec().observation.low,
            (std::vector<float>{-1.2000000476837158f, -0.07000000029802322f}));
  EXPECT_EQ(env->spec().observation.high,
            (std::vector<float>{0.6000000238418579f, 0.07000000029802322f}));
  EXPECT_EQ(env->spec().action.low, std::vector<float>{-1.0f});
  EXPECT_EQ(env->spec().action.high, std::vector<float>{1.0f});
}

TEST(MountainCarContinuousTest, EveryStepIsTheReferences) {
  ExpectTheReference(MountainCarContinuousEntry().factory, "mountain_car_continuous_cap999.jsonl",
                     /*whole=*/true);
}

// Single steps of Gymnasium 1.4.0 with NumPy 2.4.6, to the last bit. From a state of Reset a force
// of 1 is a float32 and one of 2.5 becomes the number 1.0 of Python, which rounds otherwise.
TEST(MountainCarContinuousTest, RoundsAsNumPyDoes) {
  EXPECT_EQ(StepFrom({-0.4726076625357092, 0.0}, 0.3f).state,
            (std::vector<double>{-0.47253862023353577, 6.905646296218038e-05}));
  EXPECT_EQ(StepFrom({-0.5, 0.009999999776482582}, 0.3f).state,
            (std::vector<double>{-0.48972684144973755, 0.010273156687617302}));
  const std::vector<double> start = {-1.0856604000312418, 0.0};
  EXPECT_EQ(StepFrom(start, 1.0f).state[1], 0.003983375616371632);
  EXPECT_EQ(StepFrom(start, 2.5f).state[1], 0.003983375150710344);
  const std::vector<double> later = {0.02646426297724247, -0.05910379812121391};
  EXPECT_EQ(StepFrom(later, -1.0f).state,
            (std::vector<double>{-0.036631666123867035, -0.06309592723846436}));
  EXPECT_EQ(StepFrom(later, -2.5f).state,
            (std::vector<double>{-0.03663165867328644, -0.06309591978788376}));
}

TEST(MountainCarContinuousTest, TheStateAfterAStepIsFloat32) {
  const auto env = Make();
  env->Reset(0);
  for (int t = 0; t < 20; ++t) {
    const std::vector<float> observed = env->Step({0, {0.37f}})->observation;
    EXPECT_EQ(*env->GetState(), (std::vector<double>{observed[0], observed[1]}));
  }
}

TEST(MountainCarContinuousTest, PaysTheForceAsGivenAndAHundredAtTheFlag) {
  const std::vector<double> valley = {-0.5, 0.0};
  EXPECT_FLOAT_EQ(StepFrom(valley, 0.0f).step.reward, 0.0f);
  EXPECT_FLOAT_EQ(StepFrom(valley, 0.5f).step.reward, -0.025f);
  EXPECT_FLOAT_EQ(StepFrom(valley, -3.0f).step.reward, -0.9f);
  const After goal = StepFrom({0.44, 0.03}, 2.0f);
  EXPECT_TRUE(goal.step.terminated);
  EXPECT_FLOAT_EQ(goal.step.reward, 99.6f);
  EXPECT_FALSE(StepFrom({0.4, 0.03}, 1.0f).step.terminated);
  // Beyond the flag, rolling back.
  const After back = StepFrom({0.58, -0.02}, 1.0f);
  EXPECT_FALSE(back.step.terminated);
  EXPECT_FLOAT_EQ(back.step.reward, -0.1f);
}

// Single steps of Gymnasium 1.4.0: 0.45 as a float32, which is less than 0.45, counts.
TEST(MountainCarContinuousTest, TheFlagIsAtAFloat32) {
  const After at = StepFrom({0.41999998688697815, 0.03076452948153019}, 0.0f);
  EXPECT_EQ(at.state[0], 0.44999998807907104);
  EXPECT_TRUE(at.step.terminated);
  const After below = StepFrom({0.41999998688697815, 0.030764518305659294}, 0.0f);
  EXPECT_EQ(below.state[0], 0.44999995827674866);
  EXPECT_FALSE(below.step.terminated);
}

TEST(MountainCarContinuousTest, AHugeForceStillPaysANumber) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(StepFrom({-0.5, 0.0}, -largest).step.reward, -largest);
}

TEST(MountainCarContinuousTest, TheLeftEndIsAWallAndSpeedIsLimited) {
  for (const double position : {-1.19, static_cast<double>(-1.19f)}) {
    EXPECT_EQ(StepFrom({position, -0.0625}, -1.0f).state,
              (std::vector<double>{static_cast<double>(-1.2f), 0.0}));
  }
  // At -pi / 3 gravity pulls to the right by 0.0025, at 0 to the left.
  EXPECT_EQ(StepFrom({-1.047, 0.0699}, 1.0f).state[1], static_cast<double>(0.07f));
  EXPECT_EQ(StepFrom({0.0, -0.0699}, -1.0f).state[1], static_cast<double>(-0.07f));
  EXPECT_EQ(StepFrom({0.59, 0.05}, 0.0f).state[0], static_cast<double>(0.6f));
}

TEST(MountainCarContinuousTest, CapsAreNineHundredNinetyNineOrAsGiven) {
  for (const int64_t cap : {int64_t{0}, int64_t{7}}) {
    const auto env = Make(cap);
    TimeStep step = env->Reset(3);
    int64_t num_steps = 0;
    while (!step.ended()) {
      step = *env->Step({0, {0.0f}});
      ++num_steps;
    }
    EXPECT_EQ(num_steps, cap == 0 ? 999 : cap);
    EXPECT_TRUE(step.truncated);
    EXPECT_FALSE(step.terminated);
  }
}

TEST(MountainCarContinuousTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::vector<double> before = *env->GetState();
  EXPECT_EQ(env->SetState({-0.5, 0.08}).message(),
            "a state of 'mountain_car_continuous' is 2 finite numbers (position, velocity), got 2 "
            "numbers; velocity is 0.08, outside -0.07 .. 0.07");
  std::string state = *env->Save();
  ASSERT_EQ(state.back(), '\0');
  state.back() = '\1';  // the start position is no float32
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'mountain_car_continuous' is impossible: a number is not a float32 "
            "after a step");
  state = *env->Save();
  state.replace(state.size() - 9, 8, std::string(6, '\0') + "\xf0\xbf");  // -1.0
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'mountain_car_continuous' is impossible: velocity is -1, outside -0.07 "
            ".. 0.07");
  EXPECT_EQ(*env->GetState(), before);
}

TEST(MountainCarContinuousTest, DrawsItself) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({-0.75, 0.015625}).ok());
  EXPECT_EQ(*env->RenderText(), MountainCarText(-0.75, 0.015625, 0.45));
  EXPECT_EQ(env->RenderRgb()->pixels, MountainCarPicture(-0.75, 0.45).pixels);
}

}  // namespace
}  // namespace lzero::mountain_car_continuous_test
