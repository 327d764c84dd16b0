// Products with bf16 weights, by every set of kernels: how inputs are rounded, and what is not
// finite. What weights of every type give is in product_kernels_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/kernels/product/product_testing.h"

namespace lzero::bf16_kernels_test {
namespace {

class Bf16KernelsTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(Bf16KernelsTest);

TEST_P(Bf16KernelsTest, RoundTheirInputs) {
  // 1 + 2^-8 becomes 1, 1 + 3 * 2^-8 becomes 1 + 2^-6; sums are fp32: 1000 + 2^-6 keeps its end.
  PackedMatrix matrix(17, 1, WeightType::kBf16);
  std::vector<float> weight(17, 0.0f);
  weight[2] = 1.0f;
  weight[16] = 1.0f;
  const std::vector<float> bias = {1000.0f};
  matrix.Pack({weight, bias}, nullptr);
  std::vector<float> x(17, 0.0f);
  std::vector<uint32_t> half_x(9);
  Rows y(1, 16);
  const LinearCall call = {&matrix, Epilogue::kStore, x.data(), 17, y.row(0), 16, 1, 0,
                           1,       half_x.data()};
  for (const size_t place : {2, 16}) {  // among full vectors of inputs, and in the rest
    std::fill(x.begin(), x.end(), 0.0f);
    x[place] = 1.00390625f;
    Linear(call);
    EXPECT_EQ(y.row(0)[0], 1001.0f);
    x[place] = 1.01171875f;
    Linear(call);
    EXPECT_EQ(y.row(0)[0], 1001.015625f);
  }
}

TEST_P(Bf16KernelsTest, LetNanAndInfinityThroughInTheirRowAlone) {
  std::mt19937 random(7);
  constexpr int64_t kIn = 35, kOut = 40, kRows = 5;
  const TestLayer layer(kIn, kOut, WeightType::kBf16, &random);
  const std::vector<float> good = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  Rows expected(kRows, 48);
  layer.Run(Epilogue::kStore, good.data(), kIn, kRows, 0, 3, &expected);
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const int64_t place : {0, 15, 17, 34}) {
      std::vector<float> x = good;
      x[static_cast<size_t>(2 * kIn + place)] = bad;
      Rows y(kRows, 48);
      layer.Run(Epilogue::kStore, x.data(), kIn, kRows, 0, 3, &y);
      for (int64_t r = 0; r < kRows; ++r) {
        ASSERT_EQ(SameBits(y.row(r), expected.row(r), kOut), r != 2) << r;
      }
      for (int64_t n = 0; n < kOut; ++n) {
        ASSERT_EQ(std::isnan(y.row(2)[n]), std::isnan(bad)) << n;
        ASSERT_EQ(std::isfinite(y.row(2)[n]), false) << n;
      }
    }
  }
}

}  // namespace
}  // namespace lzero::bf16_kernels_test
