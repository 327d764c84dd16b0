#include "lzero/nn/convolution.h"

#include <cmath>

#include "lzero/nn/functional/planes.h"
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

at::Tensor ConvolutionLayer::Forward(const at::Tensor& x, bool relu,
                                     const at::Tensor& addend) const {
  return NormedConvolution(x, {weight_, norm_weight_, norm_bias_}, stride_, addend, relu);
}

at::Tensor ResidualSum(const at::Tensor& x, const ConvolutionLayer& first,
                       const ConvolutionLayer& second, bool relu) {
  const at::Tensor same = first.stride() == 1 ? x : HalvedPlanes(x);
  return second.Forward(first.Forward(x, /*relu=*/true), relu, same);
}

}  // namespace lzero
