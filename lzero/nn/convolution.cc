#include "lzero/nn/convolution.h"

#include <cmath>
#include <utility>

#include "ATen/Context.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

thread_local std::optional<bool> rounds_to_tf32;

// 3x3, one cell of zeros around x.
at::Tensor Convolve(const at::Tensor& x, const at::Tensor& weight, int64_t stride) {
  if (!x.is_cuda() || !rounds_to_tf32.has_value() || at::GradMode::is_enabled()) {
    return at::conv2d(x, weight, {}, stride, 1);
  }
  const at::Context& context = at::globalContext();
  return at::_convolution(x, weight, {}, {stride, stride}, {1, 1}, {1, 1}, /*transposed=*/false,
                          {0, 0}, /*groups=*/1, context.benchmarkCuDNN(),
                          context.deterministicCuDNN(), context.userEnabledCuDNN(),
                          *rounds_to_tf32);
}

}  // namespace

ConvolutionPrecision::ConvolutionPrecision(std::optional<bool> rounds)
    : before_(std::exchange(rounds_to_tf32, rounds)) {}

ConvolutionPrecision::~ConvolutionPrecision() { rounds_to_tf32 = before_; }

ConvolutionLayer::ConvolutionLayer(int64_t in, int64_t out, int64_t stride) : stride_(stride) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in * 9));
  weight_ = register_parameter(
      "weight", torch::empty({out, in, 3, 3}, WeightDevice()).uniform_(-bound, bound));
  norm_weight_ = register_parameter("norm_weight", torch::ones({out}, WeightDevice()));
  norm_bias_ = register_parameter("norm_bias", torch::zeros({out}, WeightDevice()));
}

at::Tensor ConvolutionLayer::Forward(const at::Tensor& x) const {
  const at::Tensor y = Convolve(x, weight_, stride_);
  return at::group_norm(y, 1, norm_weight_, norm_bias_);
}

at::Tensor ResidualSum(const at::Tensor& x, const ConvolutionLayer& first,
                       const ConvolutionLayer& second) {
  const at::Tensor change = second.Forward(at::relu(first.Forward(x)));
  if (first.stride() == 1) return x + change;
  return at::avg_pool2d(x, {2, 2}, {2, 2}, {0, 0}, /*ceil_mode=*/true) + change;
}

}  // namespace lzero
