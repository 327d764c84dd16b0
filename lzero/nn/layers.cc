#include "lzero/nn/layers.h"

#include <cmath>

#include "lzero/nn/functional/linear.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/nn/functional/perceptron.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {

LinearLayer::LinearLayer(int64_t in, int64_t out) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight =
      register_parameter("weight", torch::empty({out, in}, WeightDevice()).uniform_(-bound, bound));
  bias = register_parameter("bias", torch::empty({out}, WeightDevice()).uniform_(-bound, bound));
}

at::Tensor LinearLayer::Forward(const at::Tensor& x) const { return Linear(x, weight, bias); }

at::Tensor LinearLayer::ForwardAdd(const at::Tensor& x, const at::Tensor& residual) const {
  return LinearAdd(x, weight, bias, residual);
}

void LinearLayer::InitZero() {
  const torch::NoGradGuard no_grad;
  weight.zero_();
  bias.zero_();
}

void LinearLayer::InitNormal(double standard_deviation) {
  const torch::NoGradGuard no_grad;
  weight.normal_(0.0, standard_deviation);
  bias.zero_();
}

LayerNormLayer::LayerNormLayer(int64_t size) {
  weight = register_parameter("weight", torch::ones({size}, WeightDevice()));
  bias = register_parameter("bias", torch::zeros({size}, WeightDevice()));
}

at::Tensor LayerNormLayer::Forward(const at::Tensor& x) const { return LayerNorm(x, weight, bias); }

at::Tensor LayerNormLayer::ForwardGelu(const at::Tensor& x) const {
  return LayerNormGelu(x, weight, bias);
}

Head::Head(int64_t embed_dim, int64_t head_dim, int64_t out)
    : norm_in_(register_module("norm_in", std::make_shared<LayerNormLayer>(embed_dim))),
      first_(register_module("first", std::make_shared<LinearLayer>(embed_dim, head_dim))),
      norm_hidden_(register_module("norm_hidden", std::make_shared<LayerNormLayer>(head_dim))),
      last_(register_module("last", std::make_shared<LinearLayer>(head_dim, out))) {}

at::Tensor Head::Forward(const at::Tensor& x) const {
  return Perceptron(x,
                    {norm_in_->weight, norm_in_->bias, first_->weight, first_->bias,
                     norm_hidden_->weight, norm_hidden_->bias, last_->weight, last_->bias},
                    /*residual=*/false);
}

}  // namespace lzero
