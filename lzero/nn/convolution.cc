#include "lzero/nn/convolution.h"

#include <cmath>

#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {

ConvolutionLayer::ConvolutionLayer(int64_t in, int64_t out, int64_t stride) : stride_(stride) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in * 9));
  weight_ = register_parameter(
      "weight", torch::empty({out, in, 3, 3}, WeightDevice()).uniform_(-bound, bound));
  norm_weight_ = register_parameter("norm_weight", torch::ones({out}, WeightDevice()));
  norm_bias_ = register_parameter("norm_bias", torch::zeros({out}, WeightDevice()));
}

at::Tensor ConvolutionLayer::Forward(const at::Tensor& x) const {
  const at::Tensor y = at::conv2d(x, weight_, {}, stride_, 1);
  return at::group_norm(y, 1, norm_weight_, norm_bias_);
}

at::Tensor ResidualSum(const at::Tensor& x, const ConvolutionLayer& first,
                       const ConvolutionLayer& second) {
  const at::Tensor change = second.Forward(at::relu(first.Forward(x)));
  if (first.stride() == 1) return x + change;
  return at::avg_pool2d(x, {2, 2}, {2, 2}, {0, 0}, /*ceil_mode=*/true) + change;
}

}  // namespace lzero
