// Which tensors the kernels take.
#include "lzero/nn/functional/fused_path.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::fused_path_test {
namespace {

TEST(FusedPathTest, KernelsTakeFloatsOnTheCpu) {
  const at::Tensor floats = at::ones({2, 3});
  EXPECT_TRUE(CanFuse({floats, at::Tensor()}));
  EXPECT_FALSE(CanFuse({floats, floats.to(at::kDouble)}));
  EXPECT_FALSE(CanFuse({floats, floats.to(at::kBFloat16)}));
  EXPECT_FALSE(CanFuse({at::empty({0, 3})}));
  EXPECT_FALSE(CanFuse({at::empty({2, 3}, at::TensorOptions().device(at::kMeta))}));
}

TEST(FusedPathTest, AGuardKeepsItsThreadOnPlainOperations) {
  const at::Tensor floats = at::ones({2, 3});
  {
    const PlainPathGuard outer;
    {
      const PlainPathGuard inner;
      EXPECT_FALSE(CanFuse({floats}));
    }
    EXPECT_FALSE(CanFuse({floats}));
  }
  EXPECT_TRUE(CanFuse({floats}));
}

TEST(FusedPathTest, GradientsAreNeededWhereTheyAreAskedFor) {
  const at::Tensor plain = at::ones({2}), leaf = torch::ones({2}, at::requires_grad());
  EXPECT_FALSE(NeedsGradient({plain, at::Tensor()}));
  EXPECT_TRUE(NeedsGradient({plain, leaf}));
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(NeedsGradient({plain, leaf}));
  CheckFirstDerivative("nothing");
}

TEST(FusedPathTest, ASecondDerivativeIsRefused) {
  EXPECT_DEATH(CheckFirstDerivative("Linear"), "Linear has no second derivative");
}

}  // namespace
}  // namespace lzero::fused_path_test
