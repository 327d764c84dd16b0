#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::space_invaders_test {
namespace {

TEST(SpaceInvadersTest, RecordedEpisodesReplay) { ExpectTheReference("space_invaders", 10036); }

// Six rows up to the lowest alien.
TEST(SpaceInvadersTest, ABulletTakesAnAlienForOne) {
  const auto env = MakeObedient("minatar/space_invaders");
  env->Reset(0);
  PlayLetters(*env, "f");
  EXPECT_EQ(RowText(*env, 8), ".....*....");
  TimeStep last = PlayLetters(*env, "....");
  EXPECT_EQ(RowText(*env, 4), ".....*....");
  EXPECT_EQ(last.episode_return, 0.0);
  last = PlayLetters(*env, ".");
  EXPECT_EQ(last.reward, 1.0f);
  EXPECT_EQ(RowText(*env, 3), "..<<<.<<..");
}

TEST(SpaceInvadersTest, AliensMarchToTheEdgeThenDownAndBack) {
  const auto env = MakeObedient("minatar/space_invaders");
  env->Reset(0);
  PlayLetters(*env, "............");
  EXPECT_EQ(RowText(*env, 0), "..<<<<<<..");
  PlayLetters(*env, "l");
  EXPECT_EQ(RowText(*env, 0), ".<<<<<<...");
  PlayLetters(*env, "llllllllllll");
  EXPECT_EQ(RowText(*env, 0), "<<<<<<....");
  PlayLetters(*env, "rrrrrrrrrrrr");
  EXPECT_EQ(RowText(*env, 0), "..........");
  EXPECT_EQ(RowText(*env, 1), ">>>>>>....");
}

// The alien above the cannon shoots at step 11; six rows below it is the cannon.
TEST(SpaceInvadersTest, ABulletOfAnAlienEndsTheEpisode) {
  const auto env = MakeObedient("minatar/space_invaders");
  env->Reset(0);
  PlayLetters(*env, "............");
  EXPECT_EQ(RowText(*env, 4), ".....!....");
  EXPECT_FALSE(PlayLetters(*env, "....").terminated);
  EXPECT_EQ(RowText(*env, 8), ".....!....");
  EXPECT_TRUE(PlayLetters(*env, ".").terminated);
}

}  // namespace
}  // namespace lzero::space_invaders_test
