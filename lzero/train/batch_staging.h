// A training batch on its way to the device: one staging buffer for each array, allocated once.
// Byte observations travel as bytes; the learner turns them into numbers here alone. Belongs to one
// thread.
#ifndef LZERO_TRAIN_BATCH_STAGING_H_
#define LZERO_TRAIN_BATCH_STAGING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class BatchStaging {
 public:
  // InvalidArgument and ResourceExhausted as Staging.
  static absl::StatusOr<BatchStaging> Create(const BatchShape& shape, at::Device device);

  // Copies every array in; tensors as in BatchTensors, without gradients. The caller must give a
  // `batch` of this object's shape, with arrays of the sizes it claims. The tensors are this
  // object's: the next Load overwrites them. Waits for nothing: work on the device with the batch
  // before must be over, which reading an update's metrics ensures.
  absl::StatusOr<BatchTensors> Load(const TrainBatch& batch);

  const BatchShape& shape() const { return shape_; }

 private:
  struct Array {
    Staging staging;
    size_t place;             // of its tensor among those of VisitTensors
    at::Tensor numbers = {};  // [..., obs] float32, which observations of bytes become
  };

  explicit BatchStaging(const BatchShape& shape) : shape_(shape) {}

  template <typename T>
  absl::Status CopyIn(const std::vector<T>& values, Staging* staging);
  // The tensor that the losses read: byte observations become float32, masks of legal actions
  // become masks of illegal ones.
  at::Tensor Read(Array& array);

  BatchShape shape_;
  std::vector<Array> arrays_;  // those of VisitArrays that travel, in its order; then num_padding
  at::Tensor divisor_;         // [1] 255
  std::vector<int64_t> num_padding_;  // [N] host's side
};

}  // namespace lzero

#endif  // LZERO_TRAIN_BATCH_STAGING_H_
