// Metrics of the episodes of a task, collected or evaluated. Pure functions.
#ifndef LZERO_TRAIN_TASK_TASK_METRICS_H_
#define LZERO_TRAIN_TASK_TASK_METRICS_H_

#include <string>
#include <vector>

#include "lzero/train/learner.h"
#include "lzero/worker/episode_values.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// How far the values of the searches of `role` can be trusted; nothing where there are none.
void AddValueMetrics(const std::string& role, const ValueSums& values, MetricMap* metrics);

// The mean return of at least one episode.
double MeanReturn(const std::vector<EvaluatedEpisode>& episodes);

// The metrics of an evaluation of at least one episode.
MetricMap EvaluationMetrics(const std::vector<EvaluatedEpisode>& episodes);

// Those of `metrics` that belong to `prefix`, without it; all of them for "".
MetricMap MetricsUnder(const std::string& prefix, const MetricMap& metrics);

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_TASK_METRICS_H_
