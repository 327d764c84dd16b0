// The metrics of losses by name, for tests of networks.
#ifndef LZERO_TESTS_MODEL_LOSS_METRICS_H_
#define LZERO_TESTS_MODEL_LOSS_METRICS_H_

#include <string>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/model/network.h"
#include "lzero/tensor/torch.h"

namespace lzero {

// The metric of that name, a float32 scalar; it must be there.
inline at::Tensor MetricOf(const LossTerms& terms, const std::string& name) {
  for (const LossMetric& metric : terms.metrics) {
    if (metric.name == name) return metric.value;
  }
  LZ_CHECK(false, "no metric ", name);
  return {};
}

// All metrics in their order, [n] float32.
inline at::Tensor AllMetrics(const LossTerms& terms) {
  std::vector<at::Tensor> values;
  for (const LossMetric& metric : terms.metrics) values.push_back(metric.value);
  return at::stack(values);
}

}  // namespace lzero

#endif  // LZERO_TESTS_MODEL_LOSS_METRICS_H_
