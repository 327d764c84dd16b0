#include "lzero/family/muzero/muzero_network.h"

#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::shared_ptr<MuZeroNetwork>> MuZeroNetwork::Create(const ModelConfig& config,
                                                                     const WorldModelShape& shape,
                                                                     uint64_t seed,
                                                                     at::Device device) {
  return CatchTorch([&]() -> absl::StatusOr<std::shared_ptr<MuZeroNetwork>> {
    LZ_ASSIGN_OR_RETURN(const LatentParts parts,
                        LatentParts::Create(config, shape.observation_shape));
    const WeightDeviceGuard guard(device);
    SeedWeights(StreamKey(seed, "muzero_weights") >> 1);
    std::shared_ptr<MuZeroNetwork> network(new MuZeroNetwork(config, shape, parts));
    // Drawn on the CPU, so that a seed gives the same weights everywhere.
    if (device.is_cuda()) network->to(device);
    return network;
  });
}

LossTerms MuZeroNetwork::ComputeLosses(const Network& target, const BatchTensors& batch,
                                       const LossConfig& weights) const {
  const UnrollStep step = [&](const at::Tensor& latents, int64_t k) {
    return NextLatents(latents, batch.actions.select(1, k));
  };
  return ComputeUnrolledLosses(dynamic_cast<const MuZeroNetwork&>(target), batch, weights, step,
                               nullptr);
}

at::Tensor MuZeroNetwork::ComputeOpenLoopErrors(const BatchTensors& batch,
                                                int64_t num_horizons) const {
  return OpenLoopErrorsOf(batch, num_horizons, [&](const at::Tensor& latents, int64_t k) {
    return NextLatents(latents, batch.actions.select(1, k));
  });
}

}  // namespace lzero
