#include "lzero/inference/tensor/engine_network.h"

#include <utility>

#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/torch.h"

namespace lzero {

EngineNetwork::EngineNetwork(EngineDevice device, std::shared_ptr<Network> network)
    : device_(std::move(device)), network_(std::move(network)) {
  network_->eval();
}

absl::Status EngineNetwork::CopyFrom(const packed::WeightSource& source,
                                     absl::FunctionRef<void()> then) {
  const auto* of_network = dynamic_cast<const NetworkWeights*>(&source);
  if (of_network != nullptr) {
    return device_.CopyWeights(of_network->network(), network_.get(), then);
  }
  LZ_RETURN_IF_ERROR(source.Prepare());
  LZ_RETURN_IF_ERROR(device_.OnStream([&] {
    const torch::NoGradGuard no_grad;
    for (auto& entry : network_->named_parameters()) {
      const at::IntArrayRef shape = entry.value().sizes();
      const absl::Span<const float> numbers = source.Get(entry.key(), {shape.data(), shape.size()});
      entry.value().copy_(at::from_blob(const_cast<float*>(numbers.data()), shape, at::kFloat));
    }
    then();
    return absl::OkStatus();
  }));
  return device_.Wait();
}

void EngineNetwork::Unload(absl::FunctionRef<void()> drop) {
  GraphBackend* backend = device_.backend.get();
  absl::Status unloaded = backend == nullptr ? absl::OkStatus() : backend->Synchronize();
  drop();
  network_.reset();
  if (backend != nullptr) unloaded.Update(backend->Unload({}));
  ReleaseTensorMemory();
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading an engine: ", unloaded.message());
}

absl::Status CopyActions(const ChosenActions& actions, Staging* staging) {
  return actions.values.empty() ? staging->CopyIn(actions.indices)
                                : staging->CopyIn(actions.values);
}

}  // namespace lzero
