// Whether a chance model is calibrated: what it foretells at the positions of greedy episodes,
// beside what the environment says of itself (Env::ChanceOutcomes). Nothing is estimated from
// draws: both sides are distributions. One thread.
#ifndef LZERO_WORKER_CHANCE_CALIBRATION_H_
#define LZERO_WORKER_CHANCE_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// All (position, outcome) pairs whose predicted probability lies in [lower, upper), in the last bin
// up to and with 1.
struct CalibrationBin {
  double lower = 0.0, upper = 0.0;
  int64_t count = 0;
  double mean_predicted = 0.0, mean_true = 0.0;  // 0 without pairs
};

// Means over positions; logarithms are natural.
struct ChanceReport {
  int num_outcomes = 0;
  int64_t num_positions = 0;
  double cross_entropy = 0.0;  // -sum true log predicted: the log-loss to expect
  double entropy = 0.0;        // -sum true log true: the least that it can be
  double uniform_loss = 0.0;   // log C: that of a model that knows nothing
  double impossible = 0.0;     // predicted probability of outcomes that cannot come
  // sum over bins of |predicted - true mass in the bin| / 2, in 0 .. 1: a calibration error whose
  // bins weigh by probability, since most pairs are near 0. [after Naeini et al. 2015]
  double calibration_error = 0.0;
  std::vector<CalibrationBin> bins;

  double divergence() const { return cross_entropy - entropy; }  // KL(true || predicted)
};

class ChanceCalibration {
 public:
  explicit ChanceCalibration(int num_outcomes);

  // Adds one position: the probabilities `predicted` [C], float32, sum to 1; so do those of
  // `truth`, which lists the possible outcomes.
  void Add(absl::Span<const float> predicted, absl::Span<const ChanceOutcome> truth);
  ChanceReport Report() const;

 private:
  ChanceReport sums_;         // of what a report has the means of
  std::vector<double> true_;  // scratch [C]
};

// Plays one greedy episode for each of `seeds` [n] in environments of its own, all together, and
// compares the prediction with the truth at every step. `stop` is polled before every step:
// Cancelled when it becomes true. FailedPrecondition for a model without chance nodes;
// Unimplemented where the environment does not list its chances; errors of both.
absl::StatusOr<ChanceReport> MeasureChance(Evaluator& evaluator, const EnvFactory& make_env,
                                           absl::Span<const uint64_t> seeds,
                                           const std::function<bool()>& stop = {});

}  // namespace lzero

#endif  // LZERO_WORKER_CHANCE_CALIBRATION_H_
