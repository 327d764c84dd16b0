// What libtorch is told of products, and that it is told the old again.
#include "lzero/tensor/product_precision.h"

#include <utility>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::product_precision_test {
namespace {

std::pair<bool, bool> Told() {
  return {at::globalContext().allowTF32CuBLAS(), at::globalContext().allowTF32CuDNN()};
}

TEST(ProductPrecisionTest, HoldsWhileItLivesAndLeavesNothing) {
  const auto before = Told();
  for (const bool rounds : {false, true}) {
    {
      const ProductPrecision precision(rounds, at::kCUDA);
      EXPECT_EQ(Told(), std::pair(rounds, rounds));
    }
    EXPECT_EQ(Told(), before);
    const ProductPrecision on_cpu(rounds, at::kCPU);
    EXPECT_EQ(Told(), before);
  }
}

}  // namespace
}  // namespace lzero::product_precision_test
