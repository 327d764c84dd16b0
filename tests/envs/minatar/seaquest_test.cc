#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::seaquest_test {
namespace {

TEST(SeaquestTest, RecordedEpisodesReplay) { ExpectTheReference("seaquest", 4446); }

TEST(SeaquestTest, ComingUpWithoutADiverEndsTheEpisode) {
  const auto env = MakeObedient("minatar/seaquest");
  env->Reset(0);
  EXPECT_FALSE(PlayLetters(*env, "..........").terminated);  // it starts on the surface
  EXPECT_FALSE(PlayLetters(*env, "d").terminated);
  EXPECT_TRUE(PlayLetters(*env, "u").terminated);
}

// 200 steps' worth, of which each cell of the gauge shows 20 whole ones.
TEST(SeaquestTest, OxygenLastsUnderWater) {
  const auto env = MakeObedient("minatar/seaquest");
  env->Reset(0);
  PlayLetters(*env, "....................");
  EXPECT_EQ(RowText(*env, 9), "==========");
  PlayLetters(*env, "d");
  EXPECT_EQ(RowText(*env, 9), "=========.");
  PlayLetters(*env, "...................");
  EXPECT_EQ(RowText(*env, 9), "=========.");
  PlayLetters(*env, ".");
  EXPECT_EQ(RowText(*env, 9), "========..");
}

TEST(SeaquestTest, BulletsFlyFromTheFront) {
  const auto env = MakeObedient("minatar/seaquest");
  env->Reset(0);
  PlayLetters(*env, "f");
  EXPECT_EQ(RowText(*env, 0), "....*@o...");
  // The next one not before five steps later.
  PlayLetters(*env, "ffff");
  EXPECT_EQ(RowText(*env, 0), "*....@o...");
  PlayLetters(*env, "f");
  EXPECT_EQ(RowText(*env, 0), "....*@o...");
  PlayLetters(*env, "r");
  EXPECT_EQ(RowText(*env, 0), "...*.o@...");
}

}  // namespace
}  // namespace lzero::seaquest_test
