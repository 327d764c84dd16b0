// The network that an engine runs through libtorch: a copy of the weights on a device, and the
// device itself. Belongs to one thread.
#ifndef LZERO_INFERENCE_TENSOR_ENGINE_NETWORK_H_
#define LZERO_INFERENCE_TENSOR_ENGINE_NETWORK_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/model/network.h"
#include "lzero/packed/weight_source.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class EngineNetwork {
 public:
  // `network` lies on `device` and serves inference from now on.
  EngineNetwork(EngineDevice device, std::shared_ptr<Network> network);

  const EngineDevice& device() const { return device_; }
  const Network& network() const { return *network_; }

  // Copies the weights of `source` in place and without gradients, then calls `then` on the
  // device's stream; `source` may be changed or gone as soon as it returns. Those of another
  // network are copied from its device, whose work is waited for. Errors as source.Prepare();
  // nothing has changed then.
  absl::Status CopyFrom(const packed::WeightSource& source, absl::FunctionRef<void()> then);
  // For the destructor of an engine: waits for the device, calls `drop`, which lets go of all
  // tensors, then gives the memory back.
  void Unload(absl::FunctionRef<void()> drop);

 private:
  EngineDevice device_;
  std::shared_ptr<Network> network_;
};

// Copies chosen actions in; errors as Staging::CopyIn.
absl::Status CopyActions(const ChosenActions& actions, Staging* staging);

}  // namespace lzero

#endif  // LZERO_INFERENCE_TENSOR_ENGINE_NETWORK_H_
