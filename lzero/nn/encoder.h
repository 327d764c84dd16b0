// Encoders: one observation -> one latent token [E], closed by the final norm of latents, which the
// next-latent head shares. Kinds are a closed set behind one interface. All tensors float32;
// gradients flow.
#ifndef LZERO_NN_ENCODER_H_
#define LZERO_NN_ENCODER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/nn/observation_norm.h"
#include "torch/nn/module.h"

namespace lzero {

// The final norm of latents: layer_norm (no weight or bias: latents cannot shrink) or softmax in
// groups of `sim_norm_group` (SimNorm). x [..., E] -> [..., E].
at::Tensor NormalizeLatent(const at::Tensor& x, LatentNorm norm, int64_t sim_norm_group);

class Encoder : public torch::nn::Module {
 public:
  // Learns the running statistics of observations [N, observation size], float32 or bytes, if it
  // has any. See ObservationNorm::Observe.
  void Observe(const at::Tensor& observations, const at::Tensor& skip);
  // observations [N, observation size] float32, or on the CPU uint8, byte k for k / 255 -> [N, E]
  // before the final norm.
  virtual at::Tensor Forward(const at::Tensor& observations) const = 0;

 protected:
  Encoder(const ModelConfig& config, const std::vector<int64_t>& observation_shape);
  bool normalizes() const { return norm_ != nullptr; }
  // Observations [N, observation size] as float32, normalised where the config asks for it.
  at::Tensor Prepare(const at::Tensor& observations) const;

 private:
  std::shared_ptr<ObservationNorm> norm_;
};

// The encoder of boards and images without its last linear layer: its outputs are planes,
// flattened. Errors as CheckEncoder; not for vectors.
absl::StatusOr<std::shared_ptr<Encoder>> MakePlaneEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape);

// Errors as CheckEncoder.
absl::StatusOr<std::shared_ptr<Encoder>> MakeEncoder(const ModelConfig& config,
                                                     const std::vector<int64_t>& observation_shape);

}  // namespace lzero

#endif  // LZERO_NN_ENCODER_H_
