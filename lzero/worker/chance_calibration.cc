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

// Episodes that go on, and the newest step of each.
struct Episodes {
  std::vector<std::unique_ptr<Env>> envs;
  std::vector<TimeStep> steps;
};

// Steps every episode by its action; those that end leave.
absl::Status StepAll(absl::Span<const int32_t> actions, Episodes* episodes) {
  Episodes rest;
  for (size_t i = 0; i < episodes->envs.size(); ++i) {
    LZ_ASSIGN_OR_RETURN(TimeStep next, episodes->envs[i]->Step(Action::Discrete(actions[i])));
    if (next.ended()) continue;
    rest.envs.push_back(std::move(episodes->envs[i]));
    rest.steps.push_back(std::move(next));
  }
  *episodes = std::move(rest);
  return absl::OkStatus();
}

}  // namespace

ChanceCalibration::ChanceCalibration(int num_outcomes)
    : num_outcomes_(num_outcomes), bins_(kBinEnds.size()), true_(num_outcomes) {
  LZ_CHECK(num_outcomes > 0, "got ", num_outcomes, " outcomes");
}

void ChanceCalibration::Add(absl::Span<const float> predicted,
                            absl::Span<const ChanceOutcome> truth) {
  LZ_CHECK(predicted.size() == true_.size(), predicted.size(), " probabilities of ", num_outcomes_);
  std::fill(true_.begin(), true_.end(), 0.0);
  for (const ChanceOutcome& outcome : truth) true_.at(outcome.index) += outcome.probability;
  for (size_t c = 0; c < true_.size(); ++c) {
    const double p = predicted[c];
    if (true_[c] > 0.0) {
      cross_entropy_ -= true_[c] * std::log(std::max(p, kLeastProbability));
      entropy_ -= true_[c] * std::log(true_[c]);
    } else {
      impossible_ += p;
    }
    Sums& bin = bins_[BinOf(p)];
    ++bin.count;
    bin.predicted += p;
    bin.truth += true_[c];
  }
  ++num_positions_;
}

ChanceReport ChanceCalibration::Report() const {
  ChanceReport report;
  report.num_outcomes = num_outcomes_;
  report.num_positions = num_positions_;
  report.uniform_loss = std::log(num_outcomes_);
  const double positions = static_cast<double>(std::max<int64_t>(num_positions_, 1));
  report.cross_entropy = cross_entropy_ / positions;
  report.entropy = entropy_ / positions;
  report.impossible = impossible_ / positions;
  for (size_t i = 0; i < bins_.size(); ++i) {
    const Sums& sums = bins_[i];
    const double count = static_cast<double>(std::max<int64_t>(sums.count, 1));
    report.calibration_error += std::abs(sums.predicted - sums.truth) / (2.0 * positions);
    report.bins.push_back({i == 0 ? 0.0 : kBinEnds[i - 1], kBinEnds[i], sums.count,
                           sums.predicted / count, sums.truth / count});
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
  // One environment for each seed.
  Episodes episodes;
  for (const uint64_t seed : seeds) {
    LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, make_env());
    episodes.steps.push_back(env->Reset(seed));
    episodes.envs.push_back(std::move(env));
  }
  // Step all together, prediction beside truth.
  ChanceCalibration calibration(num_outcomes);
  while (!episodes.envs.empty()) {
    if (stop && stop()) return absl::CancelledError("measurement interrupted");
    LZ_ASSIGN_OR_RETURN(const std::vector<int32_t> actions,
                        evaluator.ChooseActions(episodes.steps, /*with_search=*/true));
    LZ_ASSIGN_OR_RETURN(const std::vector<float> predicted,
                        evaluator.PredictChance(episodes.steps, actions));
    for (size_t i = 0; i < actions.size(); ++i) {
      LZ_ASSIGN_OR_RETURN(const std::vector<ChanceOutcome> truth,
                          episodes.envs[i]->ChanceOutcomes(Action::Discrete(actions[i])));
      calibration.Add(absl::MakeConstSpan(predicted).subspan(i * num_outcomes, num_outcomes),
                      truth);
    }
    LZ_RETURN_IF_ERROR(StepAll(actions, &episodes));
  }
  return calibration.Report();
}

}  // namespace lzero
