#include "lzero/train/task/task_metrics.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace lzero {
namespace {

constexpr size_t kCalibrationGroups = 10;

}  // namespace

void AddValueMetrics(const std::string& role, const ValueSums& values, MetricMap* metrics) {
  if (values.count == 0) return;
  (*metrics)[absl::StrCat(role, "/value_bias")] = values.Bias();
  (*metrics)[absl::StrCat(role, "/value_error")] = values.MeanError();
  (*metrics)[absl::StrCat(role, "/value_correlation")] = values.Correlation();
}

double MeanReturn(const std::vector<EvaluatedEpisode>& episodes) {
  double sum = 0.0;
  for (const EvaluatedEpisode& episode : episodes) sum += episode.episode_return;
  return sum / static_cast<double>(episodes.size());
}

MetricMap EvaluationMetrics(const TaskEvaluation& evaluation) {
  ValueSums values;
  std::vector<ValueAndReturn> compared;
  for (const EvaluatedEpisode& episode : evaluation.episodes) {
    values += episode.values;
    compared.insert(compared.end(), episode.compared.begin(), episode.compared.end());
  }
  MetricMap metrics = {{"eval/return_mean", MeanReturn(evaluation.episodes)}};
  if (evaluation.grade.has_value()) metrics["eval/grade"] = *evaluation.grade;
  AddValueMetrics("eval", values, &metrics);
  int group = 0;
  for (const ValueAndReturn& means : Calibration(std::move(compared), kCalibrationGroups)) {
    metrics[absl::StrCat("calibration/value_", ++group)] = means.value;
    metrics[absl::StrCat("calibration/return_", group)] = means.followed;
  }
  return metrics;
}

MetricMap MetricsUnder(const std::string& prefix, const MetricMap& metrics) {
  MetricMap own;
  for (const auto& [name, value] : metrics) {
    absl::string_view rest = name;
    if (absl::ConsumePrefix(&rest, prefix)) own[std::string(rest)] = value;
  }
  return own;
}

}  // namespace lzero
