// A training batch on its way to the device: one buffer for all arrays and the learning rate,
// allocated once, so that an update costs one copy. Byte observations travel as bytes, which become
// numbers on a device here, on the CPU in the encoder. Addresses never change, so a captured update
// may point at them. Belongs to one thread.
#ifndef LZERO_TRAIN_UPDATE_BATCH_STAGING_H_
#define LZERO_TRAIN_UPDATE_BATCH_STAGING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/replay/batch/train_batch.h"

namespace lzero {

class BatchStaging {
 public:
  // ResourceExhausted when the memory is not there.
  static absl::StatusOr<BatchStaging> Create(const BatchShape& shape, at::Device device);

  // Copies every array and the learning rate in. The caller must give a `batch` of this object's
  // shape, with arrays of the sizes it claims. Where no value is bootstrapped, the observations to
  // bootstrap from stay behind, unless `always_bootstraps`. Waits for nothing: work on the device
  // with the batch before must be over, which reading an update's metrics ensures.
  absl::Status CopyIn(const TrainBatch& batch, double learning_rate = 0.0,
                      bool always_bootstraps = false);

  // What the losses read of the batch, as in BatchTensors, without gradients: puts on the device
  // what turns bytes into numbers. The tensors are this object's: the next CopyIn overwrites them.
  BatchTensors Read();

  const BatchShape& shape() const { return shape_; }
  // Whether the last batch has observations to bootstrap from.
  bool bootstraps() const { return bootstraps_; }
  // A float32 scalar on the device.
  const at::Tensor& learning_rate() const { return learning_rate_; }

 private:
  struct Array {
    std::string name;
    size_t place;       // of its tensor among those of VisitTensors
    at::Tensor tensor;  // in buffer_
    size_t offset = 0;  // bytes, in the buffer
    // [..., obs] float32, which observations of bytes become on a device; [..., A] bool, of illegal
    // actions.
    at::Tensor read = {};
  };

  BatchStaging(const BatchShape& shape, at::Device device);

  at::Tensor ReadOne(Array& array);

  BatchShape shape_;
  std::vector<Array> arrays_;  // those of VisitArrays that travel, in its order; then num_padding
  at::Tensor learning_rate_;
  at::Tensor buffer_;      // [bytes] uint8 on the device
  at::Tensor host_;        // the same on the host, pinned for a device; on the CPU buffer_ itself
  size_t num_always_ = 0;  // bytes before those of bootstrap_observations
  bool bootstraps_ = false;
  at::Tensor divisor_;                // [1] 255
  std::vector<int64_t> num_padding_;  // [N] host's side
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_BATCH_STAGING_H_
