#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::breakout_test {
namespace {

TEST(BreakoutTest, RecordedEpisodesReplay) { ExpectTheReference("breakout", 6324); }

class BallFromTheLeft : public testing::Test {
 protected:
  // The ball is at (0, 3) and would be at (6, 9) after six steps; the paddle is at 4.
  void SetUp() override { env_->Reset(0); }

  const std::unique_ptr<Env> env_ = MakeObedient("minatar/breakout");
};

TEST_F(BallFromTheLeft, MissedEndsTheEpisode) {
  EXPECT_FALSE(PlayLetters(*env_, ".....").terminated);
  EXPECT_EQ(RowText(*env_, 8), ".....o....");
  const TimeStep last = PlayLetters(*env_, ".");
  EXPECT_TRUE(last.terminated);
  EXPECT_EQ(last.reward, 0.0f);
}

TEST_F(BallFromTheLeft, FliesOnFromThePaddleBelowItAndBackFromItsEdge) {
  PlayLetters(*env_, "r.....");
  EXPECT_EQ(RowText(*env_, 8), ".....-o...");
  PlayLetters(*env_, ".");
  EXPECT_EQ(RowText(*env_, 7), ".......o..");
  env_->Reset(0);
  PlayLetters(*env_, "rr....");
  EXPECT_EQ(RowText(*env_, 8), ".....-o...");
  PlayLetters(*env_, ".");
  EXPECT_EQ(RowText(*env_, 7), ".....o....");
}

// From the paddle by (9, 5) and the wall to the brick at (8, 3).
TEST_F(BallFromTheLeft, BreaksABrickForOne) {
  TimeStep last = PlayLetters(*env_, "r.........");
  EXPECT_EQ(RowText(*env_, 4), ".........o");
  EXPECT_EQ(last.episode_return, 0.0);
  last = PlayLetters(*env_, ".");
  EXPECT_EQ(last.reward, 1.0f);
  EXPECT_EQ(RowText(*env_, 3), "########.#");
  EXPECT_EQ(RowText(*env_, 4), "........o-");
  PlayLetters(*env_, ".");
  EXPECT_EQ(RowText(*env_, 5), ".......o..");
}

}  // namespace
}  // namespace lzero::breakout_test
