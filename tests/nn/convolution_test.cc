#include "lzero/nn/convolution.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::convolution_test {
namespace {

TEST(Convolution, HalvesRoundedUpAndNormalisesEachSample) {
  const ConvolutionLayer layer(3, 5, 2);
  const torch::NoGradGuard no_grad;
  const at::Tensor x = torch::randn({2, 3, 7, 4});
  const at::Tensor y = layer.Forward(x);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({2, 5, 4, 2}));
  EXPECT_TRUE(at::allclose(y.flatten(1).mean(1), torch::zeros({2}), 1e-4, 1e-5));
  // A sample does not depend on the others.
  EXPECT_TRUE(at::allclose(layer.Forward(x.narrow(0, 1, 1)), y.narrow(0, 1, 1), 1e-5, 1e-6));
}

TEST(Convolution, ResidualSumAddsWhatWasThere) {
  const torch::NoGradGuard no_grad;
  const ConvolutionLayer first(4, 4, 1), second(4, 4, 1), halving(4, 4, 2);
  const at::Tensor x = torch::randn({1, 4, 6, 6});
  EXPECT_TRUE(at::allclose(ResidualSum(x, first, second, false),
                           x + second.Forward(at::relu(first.Forward(x)))));
  const at::Tensor halved = ResidualSum(x, halving, second, false);
  EXPECT_EQ(halved.sizes(), at::IntArrayRef({1, 4, 3, 3}));
  const at::Tensor change = second.Forward(at::relu(halving.Forward(x)));
  const at::Tensor corner = x.narrow(2, 0, 2).narrow(3, 0, 2).mean({2, 3});
  EXPECT_TRUE(at::allclose(halved.select(3, 0).select(2, 0),
                           corner + change.select(3, 0).select(2, 0), 1e-5, 1e-6));
}

}  // namespace
}  // namespace lzero::convolution_test
