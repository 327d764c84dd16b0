// Linear, LayerNorm and the prediction head as modules over the functions of linear.h and norm.h:
// the same code runs with gradients (training) and in inference mode. All tensors float32 on one
// device; gradients flow to inputs and weights. No thread rule beyond torch's own.
#ifndef LZERO_NN_LAYERS_H_
#define LZERO_NN_LAYERS_H_

#include <cstdint>
#include <memory>

#include "torch/nn/module.h"

namespace lzero {

// y = x W^T + b; W [out, in], b [out].
class LinearLayer : public torch::nn::Module {
 public:
  // PyTorch's default initialisation: uniform in +-1/sqrt(in).
  LinearLayer(int64_t in, int64_t out);
  // x [..., in] -> [..., out]
  at::Tensor Forward(const at::Tensor& x) const;
  // residual [..., out] + y: x [..., in] -> [..., out].
  at::Tensor ForwardAdd(const at::Tensor& x, const at::Tensor& residual) const;
  void InitZero();
  void InitNormal(double standard_deviation);

  at::Tensor weight;
  at::Tensor bias;
};

// Normalises the last dimension, then multiplies by the weight [size] and adds the bias [size].
class LayerNormLayer : public torch::nn::Module {
 public:
  explicit LayerNormLayer(int64_t size);
  // x [..., size] -> [..., size].
  at::Tensor Forward(const at::Tensor& x) const;
  // gelu(Forward(x)), tanh form: x [..., size] -> [..., size].
  at::Tensor ForwardGelu(const at::Tensor& x) const;

  at::Tensor weight;
  at::Tensor bias;
};

// What reads latents.
class LatentHead : public torch::nn::Module {
 public:
  // latents [..., S] -> [..., out]; heads of planes take [N, S] alone.
  virtual at::Tensor Forward(const at::Tensor& latents) const = 0;
};

// LN, Linear(E, head_dim), LN, GELU(tanh), Linear(head_dim, out).
class Head : public LatentHead {
 public:
  Head(int64_t embed_dim, int64_t head_dim, int64_t out);
  // x [..., E] -> [..., out]
  at::Tensor Forward(const at::Tensor& x) const override;
  // The last linear layer, for its special initialisation.
  LinearLayer& last() { return *last_; }

 private:
  std::shared_ptr<LayerNormLayer> norm_in_;
  std::shared_ptr<LinearLayer> first_;
  std::shared_ptr<LayerNormLayer> norm_hidden_;
  std::shared_ptr<LinearLayer> last_;
};

}  // namespace lzero

#endif  // LZERO_NN_LAYERS_H_
