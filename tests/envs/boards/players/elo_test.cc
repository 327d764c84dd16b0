// Elo differences and their intervals against numbers worked out by hand, and against the share of
// simulated matches whose interval holds the truth.
#include "envs/boards/players/elo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace lzero::elo_test {
namespace {

TEST(EloTest, ScoresBecomeDifferences) {
  EXPECT_EQ(EloOfScore(0.5), 0.0);
  // Ten to one is 400 points, three to one 190.8.
  EXPECT_NEAR(*EloOfScore(10.0 / 11.0), 400.0, 1e-9);
  EXPECT_NEAR(*EloOfScore(0.75), 190.848, 1e-3);
  EXPECT_NEAR(*EloOfScore(0.25), -190.848, 1e-3);
  EXPECT_FALSE(EloOfScore(0.0).has_value());
  EXPECT_FALSE(EloOfScore(1.0).has_value());
}

// 8 pairs, 1 1 2 3 1 of them worth 0, 1/2, 1, 3/2, 2 points. Score: (1 + 2*2 + 3*3 + 1*4) / 32 =
// 18/32. Squares of the deviations: 81/256 + 25/256 + 2*1/256 + 3*9/256 + 49/256 = 184/256, with
// two of 1/4 216/256; r = 216/256 / 8 / (18*14/1024) = 3/7. w = 1.96^2 * 3/7 / 8 = 0.205792; middle
// (0.5625 + w/2) / (1 + w) = 0.551833; reach sqrt(w * 0.246094 + w^2/4) / (1 + w) = 0.205218.
TEST(EloTest, AnIntervalByHand) {
  const EloEstimate elo = EstimateElo({1, 1, 2, 3, 1});
  EXPECT_EQ(elo.num_pairs, 8);
  EXPECT_NEAR(elo.score, 0.5625, 1e-12);
  EXPECT_NEAR(elo.score_low, 0.551833 - 0.205218, 2e-6);
  EXPECT_NEAR(elo.score_high, 0.551833 + 0.205218, 2e-6);
  EXPECT_NEAR(*elo.difference, 400.0 * std::log10(9.0 / 7.0), 1e-9);
  EXPECT_NEAR(*elo.low, 400.0 * std::log10(0.346615 / 0.653385), 0.01);
  EXPECT_NEAR(*elo.high, 400.0 * std::log10(0.757051 / 0.242949), 0.01);
}

// Colors decide every game: the pairs are all alike, and the score is far better known than from as
// many games that are tossed like coins.
TEST(EloTest, PairsAndNotGamesAreIndependent) {
  const EloEstimate alike = EstimateElo({0, 0, 50, 0, 0});
  const EloEstimate coins = EstimateElo({12, 0, 26, 0, 12});
  EXPECT_EQ(alike.score, 0.5);
  EXPECT_EQ(coins.score, 0.5);
  // r = 1/8 / 50 / (1/4) = 0.01, so that low is about 0.5 - 1.96 sqrt(0.0025 / 50) = 0.486.
  EXPECT_NEAR(alike.score_low, 0.4862, 1e-3);
  // Wilson's interval of 100 tossed coins is 0.404 .. 0.596.
  EXPECT_NEAR(coins.score_low, 0.404, 5e-3);
  EXPECT_NEAR(coins.score_high, 0.596, 5e-3);
}

// Wilson's bound for 50 of 50 is 50 / (50 + 1.96^2) = 0.9287.
TEST(EloTest, AllPointsGiveABoundOnOneSide) {
  const EloEstimate won = EstimateElo({0, 0, 0, 0, 50});
  EXPECT_EQ(won.score, 1.0);
  EXPECT_FALSE(won.difference.has_value());
  EXPECT_FALSE(won.high.has_value());
  EXPECT_NEAR(won.score_low, 50.0 / 53.841459, 1e-6);
  EXPECT_NEAR(*won.low, 400.0 * std::log10(50.0 / 3.841459), 1e-4);
  const EloEstimate lost = EstimateElo({1, 0, 0, 0, 0});
  EXPECT_FALSE(lost.difference.has_value());
  EXPECT_FALSE(lost.low.has_value());
  EXPECT_NEAR(*lost.high, 400.0 * std::log10(3.841459), 1e-4);
}

TEST(EloTest, WithoutPairsNothingIsKnown) {
  const EloEstimate elo = EstimateElo({});
  EXPECT_EQ(elo.num_pairs, 0);
  EXPECT_EQ(elo.score_low, 0.0);
  EXPECT_EQ(elo.score_high, 1.0);
  EXPECT_FALSE(elo.difference.has_value() || elo.low.has_value() || elo.high.has_value());
}

// Whatever the pairs, A against B is the negative of B against A, the interval holds the estimate,
// and no number is infinite or none at all.
TEST(EloTest, BothSidesSeeTheSame) {
  const auto negative = [](std::optional<double> elo) { return elo.has_value() ? -*elo : 1e9; };
  for (int code = 1; code < 1024; ++code) {
    PairCounts counts, mirrored;
    for (int i = 0; i < 5; ++i) {
      counts[i] = mirrored[4 - i] = std::vector<int64_t>{0, 1, 4, 300}[code >> (2 * i) & 3];
    }
    const EloEstimate a = EstimateElo(counts);
    const EloEstimate b = EstimateElo(mirrored);
    ASSERT_NEAR(a.difference.value_or(1e9), negative(b.difference), 1e-6) << code;
    ASSERT_NEAR(a.low.value_or(1e9), negative(b.high), 1e-6) << code;
    ASSERT_NEAR(a.high.value_or(1e9), negative(b.low), 1e-6) << code;
    ASSERT_LE(a.score_low, a.score) << code;
    ASSERT_GE(a.score_high, a.score) << code;
    ASSERT_LE(a.score_high - a.score_low, 1.0) << code;
    ASSERT_TRUE(a.low.has_value() || a.high.has_value()) << code;
    ASSERT_TRUE(std::isfinite(a.low.value_or(0.0)) && std::isfinite(a.high.value_or(0.0))) << code;
  }
}

// Two independent games with these chances of a win and a draw each.
std::vector<double> PairChances(double win1, double draw1, double win2, double draw2) {
  const std::vector<double> one = {1.0 - win1 - draw1, draw1, win1};
  const std::vector<double> two = {1.0 - win2 - draw2, draw2, win2};
  std::vector<double> chances(5);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) chances[i + j] += one[i] * two[j];
  }
  return chances;
}

// The share of 2,000 simulated matches whose interval holds the true score.
double Coverage(const std::vector<double>& chances, int num_pairs) {
  double truth = 0.0;
  for (int i = 0; i < 5; ++i) truth += chances[i] * i / 4.0;
  uint64_t state = 12345;  // of a linear congruential generator [Knuth, MMIX]
  constexpr int kMatches = 2000;
  int num_held = 0;
  for (int match = 0; match < kMatches; ++match) {
    PairCounts counts = {};
    for (int pair = 0; pair < num_pairs; ++pair) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double left = static_cast<double>(state >> 11) / 9007199254740992.0;
      int kind = 0;
      while (kind < 4 && left >= chances[kind]) left -= chances[kind++];
      ++counts[kind];
    }
    const EloEstimate elo = EstimateElo(counts);
    if (elo.score_low <= truth && truth <= elo.score_high) ++num_held;
  }
  return static_cast<double>(num_held) / kMatches;
}

TEST(EloTest, IntervalsHoldTheTruthAsOftenAsTheySay) {
  struct Case {
    const char* name;
    std::vector<double> chances;
  };
  const std::vector<Case> cases = {
      {"equal, no draws", PairChances(0.5, 0.0, 0.5, 0.0)},
      {"the first player mostly wins", PairChances(0.9, 0.0, 0.1, 0.0)},
      {"nearly all drawn", PairChances(0.03, 0.97, 0.03, 0.97)},
      {"stronger", PairChances(0.6, 0.2, 0.4, 0.3)},
      {"much stronger", PairChances(0.95, 0.03, 0.9, 0.05)},
      {"hardly ever loses", PairChances(0.99, 0.005, 0.99, 0.005)},
      {"openings decide", {0.45, 0.0, 0.1, 0.0, 0.45}},
  };
  for (const Case& one : cases) {
    for (const int num_pairs : {10, 50, 200}) {
      const double coverage = Coverage(one.chances, num_pairs);
      EXPECT_GT(coverage, 0.93) << one.name << ", " << num_pairs << " pairs";
    }
    // Not wider than it must be, where there are enough pairs.
    EXPECT_LT(Coverage(one.chances, 200), 0.985) << one.name;
  }
}

TEST(EloDeathTest, NegativeCountsAreOurBug) {
  EXPECT_DEATH(EstimateElo({0, -1, 0, 0, 0}), "-1 pairs");
}

}  // namespace
}  // namespace lzero::elo_test
