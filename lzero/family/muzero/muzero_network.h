// The network of MuZero [Schrittwieser et al. 2020]: LatentNetwork, each unrolled step of it one
// action. Tensors and gradients as in LatentNetwork. Const methods may run on any thread while
// nobody writes the weights.
#ifndef LZERO_FAMILY_MUZERO_MUZERO_NETWORK_H_
#define LZERO_FAMILY_MUZERO_MUZERO_NETWORK_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/latent_network.h"

namespace lzero {

class MuZeroNetwork : public LatentNetwork {
 public:
  // Fresh weights, a function of `seed` alone, on `device`. InvalidArgument when the encoder does
  // not fit the observations; ResourceExhausted when the memory is not there. On device meta it has
  // sizes alone and allocates nothing: for num_parameters.
  static absl::StatusOr<std::shared_ptr<MuZeroNetwork>> Create(const ModelConfig& config,
                                                               const WorldModelShape& shape,
                                                               uint64_t seed,
                                                               at::Device device = at::kCPU);

  // As LatentNetwork::ComputeUnrolledLosses; gradients flow through the total alone.
  LossTerms ComputeLosses(const Network& target, const BatchTensors& batch,
                          const LossConfig& weights) const override;
  // [3, H], see Network; no gradient.
  at::Tensor ComputeOpenLoopErrors(const BatchTensors& batch, int64_t num_horizons) const override;

 private:
  using LatentNetwork::LatentNetwork;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_MUZERO_MUZERO_NETWORK_H_
