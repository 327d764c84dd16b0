// Products with fp32 weights; those with bf16 weights are in bf16_kernels_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/inference/packed/product_testing.h"

namespace lzero::packed {
namespace {

class LinearKernelsTest : public KernelsTestBase {};
LZ_TEST_ALL_KERNELS(LinearKernelsTest);

// A number that no product gives, to be found again where nothing was written.
constexpr float kUntouched = 12345.678f;

TEST_P(LinearKernelsTest, GiveTheProductByHand) {
  // [1 2 3] (1, 10, 100) + 0.5 = 321.5 and [0 -1 4] (1, 10, 100) - 1 = 389.
  PackedMatrix matrix(3, 2, WeightType::kFp32);
  const std::vector<float> weight = {1, 2, 3, 0, -1, 4}, bias = {0.5f, -1};
  matrix.Pack({weight, bias}, nullptr);
  const std::vector<float> x = {1, 10, 100};
  Rows y(1, 16);
  LinearCall call = {&matrix, Epilogue::kStore, x.data(), 3, y.row(0), 16, 1, 0, 1, nullptr};
  kernels().linear(call);
  EXPECT_EQ(y.row(0)[0], 321.5f);
  EXPECT_EQ(y.row(0)[1], 389.0f);
  call.epilogue = Epilogue::kAdd;
  kernels().linear(call);
  EXPECT_EQ(y.row(0)[0], 643.0f);
  EXPECT_EQ(y.row(0)[1], 778.0f);
}

TEST_P(LinearKernelsTest, GiveTheProductForAllTilesAndRests) {
  std::mt19937 random(1);
  for (const int64_t out : {1, 5, 16, 20, 33, 48, 64, 100, 130, 144, 200}) {
    for (const int64_t num_rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 25, 40}) {
      const int64_t in = RandomInt(&random, 1, 40);
      const TestLayer layer(in, out, WeightType::kFp32, &random);
      const Epilogue epilogue = kEpilogues[RandomInt(&random, 0, 2)];
      ASSERT_LE(ProductError(kernels(), layer, epilogue, num_rows, &random), 1e-6)
          << in << " to " << out << ", " << num_rows << " rows, epilogue "
          << static_cast<int>(epilogue);
    }
  }
}

TEST_P(LinearKernelsTest, GiveTheProductForAllEpiloguesAndInputSizes) {
  std::mt19937 random(2);
  for (const Epilogue epilogue : kEpilogues) {
    for (int64_t in = 1; in <= 40; ++in) {
      const TestLayer layer(in, RandomInt(&random, 1, 70), WeightType::kFp32, &random);
      ASSERT_LE(ProductError(kernels(), layer, epilogue, RandomInt(&random, 1, 10), &random), 1e-6)
          << in << " inputs, epilogue " << static_cast<int>(epilogue);
    }
  }
}

// Weights of a MiB and more are fetched ahead.
TEST_P(LinearKernelsTest, GiveTheProductOfALargeMatrix) {
  std::mt19937 random(3);
  const TestLayer layer(1000, 272, WeightType::kFp32, &random);
  ASSERT_GE(layer.matrix().panel_bytes(), int64_t{1} << 20);
  EXPECT_LE(ProductError(kernels(), layer, Epilogue::kStore, 1, &random), 1e-6);
  EXPECT_LE(ProductError(kernels(), layer, Epilogue::kStore, 3, &random), 1e-6);
}

TEST_P(LinearKernelsTest, WriteTheColumnsOfTheirPanelsAlone) {
  std::mt19937 random(4);
  constexpr int64_t kIn = 9, kOut = 190, kPanels = 12, kStride = 208;
  const TestLayer layer(kIn, kOut, WeightType::kFp32, &random);
  for (const int64_t num_rows : {1, 3, 10}) {
    const std::vector<float> x = RandomNumbers(&random, num_rows * kIn, -1.0f, 1.0f);
    for (const Epilogue epilogue : kEpilogues) {
      Rows whole(num_rows, kStride);
      whole.Fill(kUntouched);
      layer.Run(kernels(), epilogue, x.data(), kIn, num_rows, 0, kPanels, &whole);
      for (int64_t first = 0; first <= kPanels; ++first) {
        for (int64_t end = first; end <= kPanels; ++end) {
          Rows y(num_rows + 1, kStride);
          y.Fill(kUntouched);
          layer.Run(kernels(), epilogue, x.data(), kIn, num_rows, first, end, &y);
          for (int64_t r = 0; r <= num_rows; ++r) {
            for (int64_t n = 0; n < kStride; ++n) {
              const bool written = r < num_rows && n >= 16 * first && n < 16 * end;
              const float expected = written ? whole.row(r)[n] : kUntouched;
              if (y.row(r)[n] == expected) continue;
              FAIL() << "panels " << first << " .. " << end << ", row " << r << ", column " << n;
            }
          }
        }
      }
    }
  }
}

TEST_P(LinearKernelsTest, GiveARowTheSameBitsInAnyCall) {
  std::mt19937 random(5);
  constexpr int64_t kIn = 23, kOut = 150, kRows = 19;
  const TestLayer layer(kIn, kOut, WeightType::kFp32, &random);
  const std::vector<float> x = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const Epilogue epilogue : kEpilogues) {
    Rows alone(kRows, 160);
    for (int64_t r = 0; r < kRows; ++r) {
      Rows y(1, 160);
      y.Fill(0.25f);
      layer.Run(kernels(), epilogue, x.data() + r * kIn, kIn, 1, 0, 10, &y);
      std::copy_n(y.row(0), kOut, alone.row(r));
    }
    for (int64_t num_rows = 2; num_rows <= kRows; ++num_rows) {
      Rows y(num_rows, 160);
      y.Fill(0.25f);
      const int64_t first = kRows - num_rows;
      layer.Run(kernels(), epilogue, x.data() + first * kIn, kIn, num_rows, 0, 10, &y);
      for (int64_t r = 0; r < num_rows; ++r) {
        ASSERT_TRUE(SameBits(y.row(r), alone.row(first + r), kOut)) << num_rows << " rows, " << r;
      }
    }
  }
}

TEST_P(LinearKernelsTest, ReadNothingBehindTheirInputs) {
  std::mt19937 random(6);
  for (const int64_t in : {1, 7, 16, 33}) {
    const TestLayer layer(in, 20, WeightType::kFp32, &random);
    FloatsAtTheEnd x(5 * in);
    std::fill_n(x.first(), 5 * in, 0.5f);
    Rows y(5, 32);
    layer.Run(kernels(), Epilogue::kStore, x.first(), in, 5, 0, 2, &y);
    EXPECT_LE(RelativeError(y.row(4), layer.Expected(Epilogue::kStore, x.first(), nullptr), 1.0),
              1e-6);
  }
}

TEST_P(LinearKernelsTest, LetNanAndInfinityThroughInTheirRowAlone) {
  std::mt19937 random(7);
  constexpr int64_t kIn = 11, kOut = 40, kRows = 9;
  const TestLayer layer(kIn, kOut, WeightType::kFp32, &random);
  const std::vector<float> good = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const Epilogue epilogue : kEpilogues) {
    Rows expected(kRows, 48);
    layer.Run(kernels(), epilogue, good.data(), kIn, kRows, 0, 3, &expected);
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      for (int64_t bad_row = 0; bad_row < kRows; ++bad_row) {
        std::vector<float> x = good;
        x[static_cast<size_t>(bad_row * kIn + bad_row)] = bad;
        Rows y(kRows, 48);
        layer.Run(kernels(), epilogue, x.data(), kIn, kRows, 0, 3, &y);
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

TEST_P(LinearKernelsTest, WriteNothingForNoRows) {
  std::mt19937 random(8);
  const TestLayer layer(5, 20, WeightType::kFp32, &random);
  const std::vector<float> x(5);
  Rows y(1, 32);
  y.Fill(kUntouched);
  for (const Epilogue epilogue : kEpilogues) {
    layer.Run(kernels(), epilogue, x.data(), 5, 0, 0, 2, &y);
    for (int64_t n = 0; n < 32; ++n) EXPECT_EQ(y.row(0)[n], kUntouched);
  }
}

// GELU of single numbers, through a matrix that passes them on.
std::vector<float> GeluOf(const Kernels& kernels, const std::vector<float>& x) {
  PackedMatrix matrix(1, 1, WeightType::kFp32);
  const std::vector<float> one = {1.0f}, zero = {0.0f};
  matrix.Pack({one, zero}, nullptr);
  const auto num_rows = static_cast<int64_t>(x.size());
  Rows y(num_rows, 16);
  kernels.linear({&matrix, Epilogue::kGelu, x.data(), 1, y.row(0), 16, num_rows, 0, 1, nullptr});
  std::vector<float> values;
  for (int64_t r = 0; r < num_rows; ++r) values.push_back(y.row(r)[0]);
  return values;
}

TEST_P(LinearKernelsTest, GeluFollowsTanhInDouble) {
  std::vector<float> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<float>(i) / 333.0f);
  const std::vector<float> y = GeluOf(kernels(), x);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = reference::Gelu(static_cast<double>(x[i]));
    // Below 0 the result is tiny beside x; 1 + tanh in double is right to 1e-16.
    const double tolerance =
        x[i] >= 0 ? 4e-7 * expected : 1e-5 * std::abs(expected) + 1e-15 * std::abs(x[i]);
    ASSERT_NEAR(y[i], expected, tolerance) << x[i];
  }
}

TEST_P(LinearKernelsTest, GeluOfExtremesIsTheNumberOrZero) {
  const std::vector<float> large = {20.0f, 1e3f, 1e6f, 1e18f, 3e38f, kInfinity};
  EXPECT_EQ(GeluOf(kernels(), large), large);
  for (const float y : GeluOf(kernels(), {-20.0f, -1e3f, -1e6f, -1e18f})) {
    EXPECT_NEAR(y, 0.0f, 1e-19f);
  }
  for (const float y : GeluOf(kernels(), {1e-30f, -1e-30f}))
    EXPECT_NEAR(std::abs(y), 5e-31f, 1e-36f);
  EXPECT_TRUE(std::isnan(GeluOf(kernels(), {kNan})[0]));
}

}  // namespace
}  // namespace lzero::packed
