// How much stronger one of two players is, from the pairs of games they played: each opening twice
// with colors swapped, so that pairs are independent of one another and games are not
// (pentanomial statistics, as tests of chess engines take them). Pure functions, any thread.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_ELO_H_
#define LZERO_ENVS_BOARDS_PLAYERS_ELO_H_

#include <array>
#include <cstdint>
#include <optional>

namespace lzero {

// Number of pairs by what the first player made of them: 0, 1/2, 1, 3/2 and 2 points.
using PairCounts = std::array<int64_t, 5>;

struct EloEstimate {
  int64_t num_pairs = 0;
  // Points a game in these pairs, and its 95 % interval, within 0 .. 1.
  double score = 0.0;
  double score_low = 0.0;
  double score_high = 1.0;
  // The same as Elo differences. None where they would be infinite: all points won or lost.
  std::optional<double> difference;
  std::optional<double> low;
  std::optional<double> high;
};

// 400 log10(score / (1 - score)) [Elo 1978, logistic form]; none for a score of 0 or 1.
std::optional<double> EloOfScore(double score);

// The interval is Wilson's for a mean, with the variance of a pair's score in place of that of a
// coin: its bounds s solve (score - s)^2 = 1.96^2 r s (1 - s) / num_pairs, where r is the sample's
// variance over score (1 - score), at most 1 [Wilson 1927]. To the squares of the sample belong two
// more deviations of 1/4 (the least that a pair can deviate), for few pairs and for pairs that are
// all alike. Without pairs: a score of 0 in 0 .. 1, no differences. A negative count is our bug.
EloEstimate EstimateElo(const PairCounts& counts);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_ELO_H_
