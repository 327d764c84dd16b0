#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::freeway_test {
namespace {

TEST(FreewayTest, RecordedEpisodesReplay) { ExpectTheReference("freeway", 40016); }

TEST(FreewayTest, TheChickenMovesEveryThirdStepAtMost) {
  const auto env = MakeObedient("minatar/freeway");
  env->Reset(0);
  PlayLetters(*env, "uuu");
  EXPECT_EQ(RowText(*env, 9), "....@.....");
  PlayLetters(*env, "u");
  EXPECT_EQ(RowText(*env, 9), "..........");
  EXPECT_EQ(RowText(*env, 8)[4], '@');
  PlayLetters(*env, "..d");
  EXPECT_EQ(RowText(*env, 9), "....@.....");
}

// At seed 0 the car of row 8 starts at the left and moves right every fourth step.
TEST(FreewayTest, ACarSendsTheChickenBackForNothing) {
  const auto env = MakeObedient("minatar/freeway");
  env->Reset(0);
  ASSERT_EQ(RowText(*env, 8), "A........3");
  PlayLetters(*env, "uuuu");
  EXPECT_EQ(RowText(*env, 8), "3A..@.....");
  PlayLetters(*env, "...........");
  EXPECT_EQ(RowText(*env, 8), "..3A@.....");
  const TimeStep last = PlayLetters(*env, ".");
  EXPECT_EQ(RowText(*env, 8), "...3A.....");
  EXPECT_EQ(RowText(*env, 9), "....@.....");
  EXPECT_EQ(last.episode_return, 0.0);
}

TEST(FreewayTest, EndsByItselfAfter2501Steps) {
  const auto env = MakeObedient("minatar/freeway");
  EXPECT_EQ(env->spec().longest_episode, 2501);
  env->Reset(1);
  TimeStep last = PlayLetters(*env, std::string(2500, '.'));
  EXPECT_FALSE(last.ended());
  last = PlayLetters(*env, ".");
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
}

}  // namespace
}  // namespace lzero::freeway_test
