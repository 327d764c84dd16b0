// Metrics of the episodes of a task, collected or evaluated. Pure functions.
#ifndef LZERO_TRAIN_TASK_TASK_METRICS_H_
#define LZERO_TRAIN_TASK_TASK_METRICS_H_

#include <optional>
#include <string>
#include <vector>

#include "lzero/train/learner.h"
#include "lzero/worker/episode_values.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// What an evaluation of a task gave: at least one episode, and the share of optimal moves where
// score.measure asks for it.
struct TaskEvaluation {
  std::vector<EvaluatedEpisode> episodes;
  std::optional<double> grade;
};

// How far the values of the searches of `role` can be trusted; nothing where there are none.
void AddValueMetrics(const std::string& role, const ValueSums& values, MetricMap* metrics);

// The mean return of at least one episode.
double MeanReturn(const std::vector<EvaluatedEpisode>& episodes);

MetricMap EvaluationMetrics(const TaskEvaluation& evaluation);

// Those of `metrics` that belong to `prefix`, without it; all of them for "".
MetricMap MetricsUnder(const std::string& prefix, const MetricMap& metrics);

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_TASK_METRICS_H_
