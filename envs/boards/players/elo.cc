#include "envs/boards/players/elo.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %
constexpr double kLeastDeviation = 0.25;

}  // namespace

std::optional<double> EloOfScore(double score) {
  if (score <= 0.0 || score >= 1.0) return std::nullopt;
  return 400.0 * std::log10(score / (1.0 - score));
}

EloEstimate EstimateElo(const PairCounts& counts) {
  EloEstimate estimate;
  // Mean score of a game, from pairs of games.
  int64_t half_points = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    LZ_CHECK(counts[i] >= 0, counts[i], " pairs");
    estimate.num_pairs += counts[i];
    half_points += static_cast<int64_t>(i) * counts[i];
  }
  if (estimate.num_pairs == 0) return estimate;
  const auto num_pairs = static_cast<double>(estimate.num_pairs);
  const double score = static_cast<double>(half_points) / (4.0 * num_pairs);
  // Variance of a pair, against that of games which do not depend on each other.
  double squares = 2.0 * kLeastDeviation * kLeastDeviation;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double deviation = static_cast<double>(i) / 4.0 - score;
    squares += static_cast<double>(counts[i]) * deviation * deviation;
  }
  const double coin_variance = score * (1.0 - score);
  const double ratio =
      squares / num_pairs < coin_variance ? squares / num_pairs / coin_variance : 1.0;
  // Wilson interval of the score, narrowed by that ratio.
  const double weight = kNormalQuantile * kNormalQuantile * ratio / num_pairs;
  const double middle = (score + 0.5 * weight) / (1.0 + weight);
  const double reach = std::sqrt(weight * coin_variance + 0.25 * weight * weight) / (1.0 + weight);
  estimate.score = score;
  // Exact at both ends, where rounding would leave a bound that looks like a finite difference.
  estimate.score_low = half_points == 0 ? 0.0 : std::max(0.0, middle - reach);
  estimate.score_high = half_points == 4 * estimate.num_pairs ? 1.0 : std::min(1.0, middle + reach);
  // Scores as Elo.
  estimate.difference = EloOfScore(score);
  estimate.low = EloOfScore(estimate.score_low);
  estimate.high = EloOfScore(estimate.score_high);
  return estimate;
}

}  // namespace lzero
