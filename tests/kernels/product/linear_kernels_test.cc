// Products with fp32 weights: what is not finite, and GELU. What weights of every type give is in
// product_kernels_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/kernels/product/product_testing.h"

namespace lzero::linear_kernels_test {
namespace {

class LinearKernelsTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(LinearKernelsTest);

TEST_P(LinearKernelsTest, LetNanAndInfinityThroughInTheirRowAlone) {
  std::mt19937 random(7);
  constexpr int64_t kIn = 11, kOut = 40, kRows = 9;
  const TestLayer layer(kIn, kOut, WeightType::kFp32, &random);
  const std::vector<float> good = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const Epilogue epilogue : kEpilogues) {
    Rows expected(kRows, 48);
    layer.Run(epilogue, good.data(), kIn, kRows, 0, 3, &expected);
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      for (int64_t bad_row = 0; bad_row < kRows; ++bad_row) {
        std::vector<float> x = good;
        x[static_cast<size_t>(bad_row * kIn + bad_row)] = bad;
        Rows y(kRows, 48);
        layer.Run(epilogue, x.data(), kIn, kRows, 0, 3, &y);
        for (int64_t r = 0; r < kRows; ++r) {
          if (r != bad_row) {
            ASSERT_TRUE(SameBits(y.row(r), expected.row(r), kOut));
            continue;
          }
          for (int64_t n = 0; n < kOut; ++n) {
            ASSERT_EQ(std::isfinite(y.row(r)[n]), false) << n;
            ASSERT_EQ(std::isnan(y.row(r)[n]), std::isnan(bad)) << n;
          }
        }
      }
    }
  }
}

// GELU of single numbers, through a matrix that passes them on.
std::vector<float> GeluOf(const std::vector<float>& x) {
  PackedMatrix matrix(1, 1, WeightType::kFp32);
  const std::vector<float> one = {1.0f}, zero = {0.0f};
  matrix.Pack({one, zero}, nullptr);
  const auto num_rows = static_cast<int64_t>(x.size());
  Rows y(num_rows, 16);
  Linear({&matrix, Epilogue::kGelu, x.data(), 1, y.row(0), 16, num_rows, 0, 1, nullptr});
  std::vector<float> values;
  for (int64_t r = 0; r < num_rows; ++r) values.push_back(y.row(r)[0]);
  return values;
}

TEST_P(LinearKernelsTest, GeluFollowsTanhInDouble) {
  std::vector<float> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) / 333.0f);
  const std::vector<float> y = GeluOf(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = packed::reference::Gelu(static_cast<double>(x[i]));
    // Below 0 the result is tiny beside x; 1 + tanh in double is right to 1e-16.
    const double tolerance =
        x[i] >= 0 ? 4e-7 * expected : 1e-5 * std::abs(expected) + 1e-15 * std::abs(x[i]);
    ASSERT_NEAR(y[i], expected, tolerance) << x[i];
  }
}

TEST_P(LinearKernelsTest, GeluOfExtremesIsTheNumberOrZero) {
  const std::vector<float> large = {20.0f, 1e3f, 1e6f, 1e18f, 3e38f, kInfinity};
  EXPECT_EQ(GeluOf(large), large);
  for (const float y : GeluOf({-20.0f, -1e3f, -1e6f, -1e18f})) {
    EXPECT_NEAR(y, 0.0f, 1e-19f);
  }
  for (const float y : GeluOf({1e-30f, -1e-30f})) EXPECT_NEAR(std::abs(y), 5e-31f, 1e-36f);
  EXPECT_TRUE(std::isnan(GeluOf({kNan})[0]));
}

}  // namespace
}  // namespace lzero::linear_kernels_test
