#include "lzero/report/group_curve.h"

#include <algorithm>
#include <set>

#include "lzero/base/rng.h"
#include "lzero/statistics/bootstrap.h"

namespace lzero {
namespace {

constexpr int kNumResamples = 2000;
constexpr size_t kMostPoints = 200;

// Whether the run ended because its target was reached.
bool EndedSolved(const RunRecord& run) {
  const StopConfig& stop = run.config.stop;
  return run.state == "finished" && stop.end_at_target && stop.target_return.has_value() &&
         StepsToTarget(run, *stop.target_return, stop.patience).has_value();
}

// The mean return of `run` at `env_steps`, at or behind its first evaluation.
double ReturnAt(const RunRecord& run, double env_steps) {
  const auto& evaluations = run.evaluations;
  const auto behind = std::find_if(evaluations.begin(), evaluations.end(), [&](const auto& one) {
    return static_cast<double>(one.env_steps) >= env_steps;
  });
  if (behind == evaluations.end()) return evaluations.back().mean;
  if (behind == evaluations.begin()) return behind->mean;
  const auto before = behind - 1;
  const auto width = static_cast<double>(behind->env_steps - before->env_steps);
  const double weight = (env_steps - static_cast<double>(before->env_steps)) / width;
  return before->mean * (1.0 - weight) + behind->mean * weight;
}

// The env steps at which the curve is drawn.
std::vector<double> StepsOf(absl::Span<const RunRecord* const> runs) {
  double begin = 0.0, solved_end = 0.0, open_end = 1e300;
  std::set<double> steps;
  for (const RunRecord* run : runs) {
    const auto last = static_cast<double>(run->evaluations.back().env_steps);
    begin = std::max(begin, static_cast<double>(run->evaluations.front().env_steps));
    solved_end = std::max(solved_end, last);
    if (!EndedSolved(*run)) open_end = std::min(open_end, last);
    for (const auto& one : run->evaluations) steps.insert(static_cast<double>(one.env_steps));
  }
  const double end = std::min(solved_end, open_end);
  std::vector<double> within;
  for (const double step : steps) {
    if (step >= begin && step <= end) within.push_back(step);
  }
  if (within.size() <= kMostPoints) return within;
  std::vector<double> even;
  for (size_t i = 0; i < kMostPoints; ++i) {
    even.push_back(begin + (end - begin) * static_cast<double>(i) / (kMostPoints - 1));
  }
  return even;
}

}  // namespace

GroupCurve CurveOf(const RunGroup& group) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : group.runs) {
    if (!run.evaluations.empty()) runs.push_back(&run);
  }
  GroupCurve curve;
  if (runs.size() < 2) return curve;
  RandomStream random(0, "group curve");
  for (const double step : StepsOf(runs)) {
    std::vector<double> returns;
    for (const RunRecord* run : runs) returns.push_back(ReturnAt(*run, step));
    curve.env_steps.push_back(step);
    curve.value.push_back(InterquartileMean(returns));
    if (returns.size() < kFewestRunsForInterval) continue;
    const Interval interval =
        BootstrapInterval(returns, InterquartileMean, 0.95, kNumResamples, random);
    curve.low.push_back(interval.low);
    curve.high.push_back(interval.high);
  }
  return curve;
}

}  // namespace lzero
