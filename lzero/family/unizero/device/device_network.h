// The recurrent step of a captured graph: kernels of our own and products of cuBLASLt, which read
// contexts where they lie and write the children's tokens where they belong. For L layers a step is
// 14 L + 11 launches. It computes what EagerStep computes, in another order of sums. Belongs to one
// thread.
#ifndef LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_NETWORK_H_
#define LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_NETWORK_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/family/unizero/device/device_weights.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/device/step_functions.h"

namespace lzero {

// Where a step reads and writes, all in the memory of the device. M rows at most.
struct StepPlace {
  StepRows rows;
  float* pool;          // [slots, L, 2, E]: contexts, and the children's tokens
  float* rewards;       // [M]
  float* values;        // [M]
  float* prior_logits;  // [M, policy size]
};

class DeviceNetwork {
 public:
  // Allocates on the model's device and computes what is derived from the weights, on the current
  // stream. The model and the functions must outlive the object. InvalidArgument for heads that are
  // too large (kMostHeadSize); Internal with what the device says.
  static absl::StatusOr<std::unique_ptr<DeviceNetwork>> Create(const WorldModel& model,
                                                               int64_t max_rows,
                                                               InferenceDtype dtype,
                                                               const StepFunctions& functions);
  ~DeviceNetwork();

  // The model's weights were changed in place; on the current stream.
  void OnWeightsChanged() { weights_.Refresh(); }

  // Puts a step of rows 0 .. num_rows - 1 on the stream.
  absl::Status LaunchStep(const StepPlace& place, int num_rows, DeviceStream stream) const;

  // Bytes of the memory that such a network keeps.
  static int64_t Bytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_rows,
                       InferenceDtype dtype);

 private:
  class Launches;
  DeviceNetwork(const WorldModel& model, int64_t max_rows, InferenceDtype dtype,
                const StepFunctions& functions);

  const StepFunctions& functions_;
  ModelConfig config_;
  WorldModelShape shape_;
  ProductType type_;
  ValueSupport value_support_, reward_support_;
  DeviceWeights weights_;
  Products* products_ = nullptr;
  // Scratch: float32 but for operands.
  at::Tensor workspace_;       // of the products
  at::Tensor x_;               // [M, E]
  at::Tensor normal_, mixed_;  // [M, E] operands
  at::Tensor wide_;     // [M, max(3 E, 2 H)]: queries, keys and values; hidden layers of heads
  at::Tensor active_;   // [M, max(4 E, 2 H)] operands
  at::Tensor logits_;   // [M, S]
  at::Tensor outputs_;  // [M, max(E, policy size)] of the second head
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_NETWORK_H_
