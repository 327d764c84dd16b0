#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "envs/entries.h"
#include "tests/envs/classic/golden_trace.h"

namespace lzero::cartpole_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *CartPoleEntry().factory({cap, 0.0, 6}); }

// Gymnasium 1.4.0: env.reset(seed=s), env.unwrapped.state.
TEST(CartPoleTest, StartStatesAreTheReferences) {
  const auto env = Make();
  env->Reset(42);
  EXPECT_EQ(*env->GetState(), (std::vector<double>{0.027395604855596334, -0.006112156024794771,
                                                   0.03585979199113824, 0.019736802905936393}));
  env->Reset(0);
  EXPECT_EQ(*env->GetState(), (std::vector<double>{0.013696168732145436, -0.02302132862361297,
                                                   -0.045902647606380534, -0.04834723644714709}));
  const TimeStep first = env->Reset(11);
  EXPECT_EQ(first.observation,
            (std::vector<float>{-0.03714298f, -7.2213756e-05f, 0.010149836f, -0.0471311f}));
}

// Short random episodes are played whole too; a balanced pole lets a last bit grow.
TEST(CartPoleTest, EveryStepIsTheReferences) {
  ExpectTheReference(CartPoleEntry().factory, "CartPole-v1.jsonl", /*whole=*/true);
  ExpectTheReference(CartPoleEntry().factory, "cartpole_cap200.jsonl", /*whole=*/false);
  ExpectTheReference(CartPoleEntry().factory, "cartpole_cap500.jsonl", /*whole=*/false);
}

// One step from rest by hand. Pushing right: push = 10 / 1.1; the pole's angular acceleration is
// -push / (0.5 * (4/3 - 0.1 / 1.1)); positions have not moved yet (Euler).
TEST(CartPoleTest, OneStepByHand) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.0, 0.0, 0.0, 0.0}).ok());
  const auto step = env->Step(Action::Discrete(1));
  const std::vector<double> state = *env->GetState();
  EXPECT_EQ(state[0], 0.0);
  EXPECT_NEAR(state[1], 0.02 * 400.0 / 41.0, 1e-12);
  EXPECT_EQ(state[2], 0.0);
  EXPECT_NEAR(state[3], 0.02 * -600.0 / 41.0, 1e-12);
  EXPECT_EQ(step->reward, 1.0f);
  EXPECT_FALSE(step->ended());
}

TEST(CartPoleTest, LeavingTheTrackOrFallingTerminatesAndStillPays) {
  const auto env = Make();
  for (const std::vector<double>& state : {std::vector<double>{2.39, 1.0, 0.0, 0.0},
                                           {-2.39, -1.0, 0.0, 0.0},
                                           {0.0, 0.0, 0.209, 1.0},
                                           {0.0, 0.0, -0.209, -1.0}}) {
    ASSERT_TRUE(env->SetState(state).ok());
    const auto step = env->Step(Action::Discrete(0));
    EXPECT_TRUE(step->terminated);
    EXPECT_EQ(step->reward, 1.0f);
    EXPECT_EQ(step->legal_action_mask, (std::vector<uint8_t>{0, 0}));
  }
}

// 12 degrees are 0.20943951 rad; the limit itself is inside.
TEST(CartPoleTest, TheAngleLimitIsTwelveDegrees) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.0, 0.0, 0.2094395, 0.0}).ok());
  EXPECT_FALSE(env->Step(Action::Discrete(1))->terminated);
  ASSERT_TRUE(env->SetState({0.0, 0.0, 0.2094396, 0.0}).ok());
  EXPECT_TRUE(env->Step(Action::Discrete(1))->terminated);
}

// A controller that balances: it must see the cap, not the end of the task.
TEST(CartPoleTest, CapsAreFiveHundredOrAsGiven) {
  for (const int64_t cap : {int64_t{0}, int64_t{200}, int64_t{500}}) {
    const auto env = Make(cap);
    EXPECT_EQ(env->spec().max_episode_steps, cap == 0 ? 500 : cap);
    TimeStep step = env->Reset(3);
    int64_t num_steps = 0;
    while (!step.ended()) {
      const std::vector<float>& o = step.observation;
      const bool right = 0.1f * o[0] + 0.3f * o[1] + 3.0f * o[2] + o[3] > 0.0f;
      step = *env->Step(Action::Discrete(right ? 1 : 0));
      ++num_steps;
    }
    EXPECT_EQ(num_steps, env->spec().max_episode_steps);
    EXPECT_TRUE(step.truncated);
    EXPECT_FALSE(step.terminated);
    EXPECT_EQ(step.episode_return, static_cast<double>(num_steps));
  }
}

// As Gymnasium's TimeLimit does: the flags are independent.
TEST(CartPoleTest, FallingAtTheCapSetsBothFlags) {
  const auto env = Make(1);
  ASSERT_TRUE(env->SetState({2.39, 1.0, 0.0, 0.0}).ok());
  const auto step = env->Step(Action::Discrete(0));
  EXPECT_TRUE(step->terminated);
  EXPECT_TRUE(step->truncated);
}

TEST(CartPoleTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::vector<double> before = *env->GetState();
  EXPECT_EQ(env->SetState({1.0, 2.0}).message(),
            "a state of 'cartpole' is 4 finite numbers (x, x_dot, theta, theta_dot), got 2 "
            "numbers");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(env->SetState({0.0, nan, 0.0, 0.0}).message(),
            "a state of 'cartpole' is 4 finite numbers (x, x_dot, theta, theta_dot), got 4 "
            "numbers; x_dot is not finite");
  std::string state = *env->Save();
  state.replace(state.size() - 8, 8, std::string(6, '\0') + "\xf0\x7f");  // infinity
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'cartpole' is impossible: theta_dot is not finite");
  EXPECT_EQ(*env->GetState(), before);
}

TEST(CartPoleTest, DrawsCartPoleAndNumbers) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.0, 0.0, 0.0, 0.0}).ok());
  const std::string pole = std::string(24, ' ') + "|" + std::string(24, ' ') + "\n";
  EXPECT_EQ(*env->RenderText(), pole + pole + pole + pole + std::string(24, '-') + "#" +
                                    std::string(24, '-') +
                                    "\nx 0  x_dot 0  theta 0  theta_dot 0\n");
}

// 62.5 pixels a metre; the pole is 1 m long.
TEST(CartPoleTest, PaintsCartPoleAndTrack) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0.8, 0.0, 0.0, 0.0}).ok());
  const Image image = *env->RenderRgb();
  ASSERT_EQ(image.width, 300);
  ASSERT_EQ(image.height, 200);
  const Color paper = image.at(20, 20);
  EXPECT_NE(image.at(20, 158), paper);   // the track
  EXPECT_NE(image.at(200, 150), paper);  // the cart
  EXPECT_EQ(image.at(150, 150), paper);
  const Color pole = image.at(200, 100);
  EXPECT_NE(pole, paper);
  EXPECT_EQ(image.at(200, 80), paper);
  ASSERT_TRUE(env->SetState({0.8, 0.0, 0.2, 0.0}).ok());  // leans to the right by 12 pixels
  EXPECT_EQ(env->RenderRgb()->at(211, 90), pole);
  EXPECT_EQ(env->RenderRgb()->at(200, 90), paper);
}

}  // namespace
}  // namespace lzero::cartpole_test
