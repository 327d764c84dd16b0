#include "lzero/worker/chance_calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// Upper ends of the bins; finer near 0, where most outcomes are.
constexpr std::array<double, 11> kBinEnds = {0.001, 0.003, 0.01, 0.03, 0.06, 0.1,
                                             0.2,   0.4,   0.6,  0.8,  1.0};

// A prediction of exactly 0 costs a finite log-loss.
constexpr double kLeastProbability = 1.0e-12;

size_t BinOf(double probability) {
  size_t bin = 0;
  while (bin + 1 < kBinEnds.size() && probability >= kBinEnds[bin]) ++bin;
  return bin;
}

}  // namespace

ChanceCalibration::ChanceCalibration(int num_outcomes) : true_(num_outcomes) {
  LZ_CHECK(num_outcomes > 0, "got ", num_outcomes, " outcomes");
  sums_.num_outcomes = num_outcomes;
  sums_.uniform_loss = std::log(num_outcomes);
  for (size_t i = 0; i < kBinEnds.size(); ++i) {
    sums_.bins.push_back({i == 0 ? 0.0 : kBinEnds[i - 1], kBinEnds[i]});
  }
}

void ChanceCalibration::Add(absl::Span<const float> predicted,
                            absl::Span<const ChanceOutcome> truth) {
  LZ_CHECK(predicted.size() == true_.size(), predicted.size(), " probabilities of ", true_.size());
  std::fill(true_.begin(), true_.end(), 0.0);
  for (const ChanceOutcome& outcome : truth) true_.at(outcome.index) += outcome.probability;
  for (size_t c = 0; c < true_.size(); ++c) {
    const double p = predicted[c];
    if (true_[c] > 0.0) {
      sums_.cross_entropy -= true_[c] * std::log(std::max(p, kLeastProbability));
      sums_.entropy -= true_[c] * std::log(true_[c]);
    } else {
      sums_.impossible += p;
    }
    CalibrationBin& bin = sums_.bins[BinOf(p)];
    ++bin.count;
    bin.mean_predicted += p;
    bin.mean_true += true_[c];
  }
  ++sums_.num_positions;
}

ChanceReport ChanceCalibration::Report() const {
  ChanceReport report = sums_;
  const double positions = static_cast<double>(std::max<int64_t>(report.num_positions, 1));
  for (double* mean : {&report.cross_entropy, &report.entropy, &report.impossible}) {
    *mean /= positions;
  }
  for (CalibrationBin& bin : report.bins) {
    const double count = static_cast<double>(std::max<int64_t>(bin.count, 1));
    report.calibration_error += std::abs(bin.mean_predicted - bin.mean_true) / (2.0 * positions);
    bin.mean_predicted /= count;
    bin.mean_true /= count;
  }
  return report;
}

absl::StatusOr<ChanceReport> MeasureChance(Evaluator& evaluator, const EnvFactory& make_env,
                                           absl::Span<const uint64_t> seeds,
                                           const std::function<bool()>& stop) {
  const int num_outcomes = evaluator.spec().num_chance_outcomes;
  if (num_outcomes == 0) {
    return absl::UnimplementedError(
        absl::StrCat("environment '", evaluator.spec().id, "' tells of no chance outcomes"));
  }
  // One environment for each seed, and its newest step.
  std::vector<std::unique_ptr<Env>> envs;
  std::vector<TimeStep> steps;
  for (const uint64_t seed : seeds) {
    LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, make_env());
    steps.push_back(env->Reset(seed));
    envs.push_back(std::move(env));
  }
  // Step all together, prediction beside truth.
  ChanceCalibration calibration(num_outcomes);
  while (!envs.empty()) {
    if (stop && stop()) return absl::CancelledError("measurement interrupted");
    LZ_ASSIGN_OR_RETURN(const std::vector<int32_t> actions,
                        evaluator.ChooseActions(steps, /*with_search=*/true));
    LZ_ASSIGN_OR_RETURN(const std::vector<float> predicted,
                        evaluator.PredictChance(steps, actions));
    size_t num_left = 0;  // episodes that end leave
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action action = Action::Discrete(actions[i]);
      LZ_ASSIGN_OR_RETURN(const std::vector<ChanceOutcome> truth, envs[i]->ChanceOutcomes(action));
      calibration.Add(absl::MakeConstSpan(predicted).subspan(i * num_outcomes, num_outcomes),
                      truth);
      LZ_ASSIGN_OR_RETURN(TimeStep next, envs[i]->Step(action));
      if (next.ended()) continue;
      std::swap(envs[num_left], envs[i]);
      steps[num_left++] = std::move(next);
    }
    envs.resize(num_left);
    steps.resize(num_left);
  }
  return calibration.Report();
}

}  // namespace lzero
