#include <gtest/gtest.h>

#include "envs/entries.h"

namespace lzero::counting_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *CountingEntry().factory({cap, 0.0, 6}); }

TEST(CountingTest, TheRightActionsEarnTen) {
  const auto env = Make();
  TimeStep step = env->Reset(5);
  for (int count = 0; count < 10; ++count) {
    ASSERT_FALSE(step.ended());
    EXPECT_EQ(step.observation[count], 1.0f);
    step = *env->Step(Action::Discrete(std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}[count]));
    EXPECT_EQ(step.reward, 1.0f);
  }
  EXPECT_TRUE(step.terminated);
  EXPECT_EQ(step.episode_return, 10.0);
  EXPECT_EQ(step.observation, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(CountingTest, AWrongActionEndsTheEpisode) {
  const auto env = Make();
  env->Reset(0);
  ASSERT_TRUE(env->Step(Action::Discrete(0)).ok());
  const auto wrong = env->Step(Action::Discrete(2));
  EXPECT_TRUE(wrong->terminated);
  EXPECT_EQ(wrong->reward, 0.0f);
  EXPECT_EQ(wrong->episode_return, 1.0);
}

TEST(CountingTest, TheCapTruncates) {
  const auto env = Make(2);
  EXPECT_EQ(env->spec().max_episode_steps, 2);
  env->Reset(0);
  ASSERT_FALSE(env->Step(Action::Discrete(0))->ended());
  const auto last = env->Step(Action::Discrete(1));
  EXPECT_TRUE(last->truncated);
  EXPECT_FALSE(last->terminated);
  EXPECT_EQ(*env->RenderText(), "count 2 of 10\n");
}

TEST(CountingTest, AnImpossibleCountIsRefused) {
  const auto env = Make();
  env->Reset(0);
  std::string state = *env->Save();
  state[state.size() - 4] = 11;  // the last four bytes are the count
  EXPECT_EQ(env->Load(state).message(), "saved state of 'counting' is impossible: count 11");
}

// The boxes lie 22 pixels apart from x = 12 on; 84, 158, 112 is a box that was counted.
TEST(CountingTest, ThePictureHasABoxForEachStep) {
  const auto env = *CountingEntry().factory({});
  env->Reset(0);
  for (int count = 0; count <= 10; ++count) {
    const Image picture = *env->RenderRgb();
    ASSERT_EQ(picture.width, 240);
    ASSERT_EQ(picture.height, 88);
    int num_counted = 0;
    for (int i = 0; i < 10; ++i) {
      if (picture.at(12 + 22 * i + 9, 65) == (Color{84, 158, 112})) ++num_counted;
    }
    EXPECT_EQ(num_counted, count);
    if (count < 10) {
      ASSERT_TRUE(env->Step(Action::Discrete(count % 3)).ok());
      EXPECT_NE(env->RenderRgb()->pixels, picture.pixels);
    }
  }
}

}  // namespace
}  // namespace lzero::counting_test
