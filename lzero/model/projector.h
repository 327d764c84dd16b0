// The later layers of a projector of latents, for a loss that compares two of them [EfficientZero
// V2, Wang et al. 2024, appendix]: before each one a norm and GELU, a norm at the end. The norm is
// that of a row, or that of a number over all rows of the call (batch statistics). No search reads
// it: nothing is kept of batches. All tensors float32; gradients flow to inputs and weights. No
// thread rule beyond torch's own.
#ifndef LZERO_MODEL_PROJECTOR_H_
#define LZERO_MODEL_PROJECTOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/config/model/model_config.h"
#include "lzero/nn/layers.h"
#include "torch/nn/module.h"

namespace lzero {

class ProjectorTail : public torch::nn::Module {
 public:
  ProjectorTail(int64_t width, int64_t num_layers, ProjectorNorm norm);
  // x [..., width] -> [..., width].
  at::Tensor Forward(const at::Tensor& x) const;

 private:
  at::Tensor Normalize(const at::Tensor& x, const LayerNormLayer& norm) const;

  const ProjectorNorm norm_;
  std::vector<std::shared_ptr<LinearLayer>> linears_;
  std::vector<std::shared_ptr<LayerNormLayer>> norms_;  // one more
};

}  // namespace lzero

#endif  // LZERO_MODEL_PROJECTOR_H_
