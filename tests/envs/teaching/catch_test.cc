#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "envs/entries.h"

namespace lzero::catch_test {
namespace {

std::unique_ptr<Env> Make() { return *CatchEntry().factory({}); }

int BallColumn(const TimeStep& first) {
  const auto ball = std::find(first.observation.begin(), first.observation.begin() + 5, 1.0f);
  return static_cast<int>(ball - first.observation.begin());
}

TEST(CatchTest, StartsWithBallOnTopAndPaddleInTheMiddle) {
  const auto env = Make();
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{1, 10, 5}));
  std::array<int, 5> starts = {};
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const TimeStep first = env->Reset(seed);
    EXPECT_EQ(std::count(first.observation.begin(), first.observation.end(), 1.0f), 2);
    EXPECT_EQ(first.observation[9 * 5 + 2], 1.0f);
    ++starts[BallColumn(first)];
  }
  // 100 expected in each column; 60 is 4.5 standard deviations away.
  for (const int count : starts) EXPECT_GT(count, 60);
}

TEST(CatchTest, FollowingTheBallAlwaysCatchesIt) {
  const auto env = Make();
  for (uint64_t seed = 0; seed < 50; ++seed) {
    TimeStep step = env->Reset(seed);
    const int ball = BallColumn(step);
    int paddle = 2;
    for (int t = 0; t < 9; ++t) {
      ASSERT_FALSE(step.ended());
      const int move = ball > paddle ? 1 : ball < paddle ? -1 : 0;
      paddle += move;
      step = *env->Step(Action::Discrete(move + 1));
      EXPECT_EQ(step.observation[(t + 1) * 5 + ball], 1.0f);
      EXPECT_EQ(step.observation[9 * 5 + paddle], 1.0f);
      EXPECT_EQ(step.reward, t == 8 ? 1.0f : 0.0f);
    }
    EXPECT_TRUE(step.terminated);
    EXPECT_FALSE(step.truncated);
    EXPECT_EQ(step.episode_return, 1.0);
  }
}

TEST(CatchTest, MissingCostsOneAndWallsStopThePaddle) {
  const auto env = Make();
  uint64_t seed = 0;
  while (BallColumn(env->Reset(seed)) != 4) ++seed;
  absl::StatusOr<TimeStep> step = env->Reset(seed);
  for (int t = 0; t < 8; ++t) step = env->Step(Action::Discrete(0));
  EXPECT_EQ(*env->RenderText(),
            ".....\n.....\n.....\n.....\n.....\n.....\n.....\n.....\n....o\n=....\n");
  step = env->Step(Action::Discrete(1));
  EXPECT_EQ(step->reward, -1.0f);
  EXPECT_TRUE(step->terminated);
}

// Where it is in the picture of 24 x 24 pixels a cell; {-1, -1} when nothing has that color.
std::array<int, 2> CellOf(const Image& picture, Color color) {
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (picture.at(x, y) == color) return {y / 24, x / 24};
    }
  }
  return {-1, -1};
}

TEST(CatchTest, ThePictureShowsBallAndPaddle) {
  constexpr Color kBall = {250, 196, 84};
  constexpr Color kPaddle = {110, 190, 240};
  const auto env = Make();
  uint64_t seed = 0;
  while (BallColumn(env->Reset(seed)) != 0) ++seed;
  TimeStep step = env->Reset(seed);
  for (int t = 0; t < 9; ++t) {
    const Image picture = *env->RenderRgb();
    ASSERT_EQ(picture.width, 120);
    ASSERT_EQ(picture.height, 240);
    EXPECT_EQ(CellOf(picture, kBall), (std::array<int, 2>{t, 0}));
    EXPECT_EQ(CellOf(picture, kPaddle), (std::array<int, 2>{9, std::max(0, 2 - t)}));
    step = *env->Step(Action::Discrete(0));
  }
  EXPECT_TRUE(step.terminated);
  // Caught: the ball lies on the paddle, and both are seen.
  EXPECT_EQ(step.reward, 1.0f);
  const Image end = *env->RenderRgb();
  EXPECT_EQ(CellOf(end, kBall), (std::array<int, 2>{9, 0}));
  EXPECT_EQ(CellOf(end, kPaddle), (std::array<int, 2>{9, 0}));
}

TEST(CatchTest, PixelsShowTheSameBoardLarger) {
  EnvOptions options;
  options.settings = {{"columns", "10"}, {"pixels", "4"}};
  const auto picture = *CatchEntry().factory(options);
  options.settings.erase("pixels");
  const auto board = *CatchEntry().factory(options);
  EXPECT_EQ(picture->spec().observation.shape, (std::vector<int64_t>{1, 40, 40}));
  EXPECT_EQ(picture->spec().observation.type, ObservationType::kUint8);
  EXPECT_EQ(board->spec().observation.type, ObservationType::kFloat32);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    TimeStep large = picture->Reset(seed), small = board->Reset(seed);
    while (true) {
      for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 40; ++x) {
          ASSERT_EQ(large.observation[y * 40 + x], small.observation[y / 4 * 10 + x / 4]);
        }
      }
      if (large.ended()) break;
      large = *picture->Step(Action::Discrete(seed % 3));
      small = *board->Step(Action::Discrete(seed % 3));
    }
    EXPECT_EQ(large.reward, small.reward);
  }
}

TEST(CatchTest, APaddleThatCannotReachIsRefused) {
  EnvOptions options;
  options.settings = {{"rows", "3"}, {"columns", "6"}};
  EXPECT_EQ(CatchEntry().factory(options).status().message(),
            "columns of 'catch' is 6; allowed with 3 rows: at most 5, or the paddle cannot reach "
            "the walls in time");
}

TEST(CatchTest, GamesAreNeverCutShort) {
  EXPECT_TRUE(CatchEntry().factory({9, 0.0, 6}).ok());
  EXPECT_EQ(CatchEntry().factory({8, 0.0, 6}).status().message(),
            "max_episode_steps of 'catch' is 8; allowed: 0 or at least 9, since a game is over "
            "after at most 9 steps and is never cut short");
}

TEST(CatchTest, AnImpossibleBoardIsRefused) {
  const auto env = Make();
  env->Reset(0);
  std::string state = *env->Save();
  state[state.size() - 4] = 5;  // the paddle
  const absl::Status status = env->Load(state);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("paddle at 5"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace lzero::catch_test
