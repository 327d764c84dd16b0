#include "lzero/replay/batch/train_batch.h"

#include <algorithm>

namespace lzero {

int64_t NumObservationElements(const BatchShape& shape) {
  const int64_t steps = int64_t{shape.num_context_steps} + 2 * int64_t{shape.num_unroll_steps} +
                        int64_t{shape.num_bootstrap_context_steps};
  return shape.num_samples * (steps + 1) * shape.observation_size;
}

int64_t TrainBatchBytes(const BatchShape& shape) {
  int64_t bytes = shape.num_samples * static_cast<int64_t>(sizeof(PositionHandle));
  const TrainBatch empty;
  VisitArrays(empty, shape, [&](const char*, const auto& array, const ArrayDims& dims) {
    bytes += NumElements(dims) * static_cast<int64_t>(sizeof(array[0]));
  });
  return bytes;
}

void TrainBatch::Resize(const BatchShape& shape) {
  if (shape == this->shape()) return;
  static_cast<BatchShape&>(*this) = shape;
  VisitArrays(*this, shape, [](const char*, auto& array, const ArrayDims& dims) {
    array.assign(static_cast<size_t>(NumElements(dims)), {});
  });
  positions.assign(static_cast<size_t>(num_samples), PositionHandle{});
  std::fill(importance_weights.begin(), importance_weights.end(), 1.0f);
  std::fill(chance_outcomes.begin(), chance_outcomes.end(), -1);
}

}  // namespace lzero
