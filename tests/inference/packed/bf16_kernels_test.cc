// Products with bf16 weights, by every set of kernels: the processor's own, and by fp32 products of
// unpacked halves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/inference/packed/product_testing.h"

namespace lzero::packed {
namespace {

class Bf16KernelsTest : public KernelsTestBase {};
LZ_TEST_ALL_KERNELS(Bf16KernelsTest);

constexpr float kUntouched = 12345.678f;

TEST_P(Bf16KernelsTest, GiveTheProductByHand) {
  // Inputs and weights are bf16 numbers. An odd number of inputs: the last pair has one half.
  PackedMatrix matrix(3, 2, WeightType::kBf16);
  const std::vector<float> weight = {1, 2, 3, 0, -1, 4}, bias = {0.5f, -1};
  matrix.Pack({weight, bias}, nullptr);
  const std::vector<float> x = {1, 10, 100};
  std::vector<uint32_t> half_x(2);
  Rows y(1, 16);
  LinearCall call = {&matrix, Epilogue::kStore, x.data(), 3, y.row(0), 16, 1, 0, 1, half_x.data()};
  kernels().linear(call);
  EXPECT_EQ(y.row(0)[0], 321.5f);
  EXPECT_EQ(y.row(0)[1], 389.0f);
  call.epilogue = Epilogue::kAdd;
  kernels().linear(call);
  EXPECT_EQ(y.row(0)[0], 643.0f);
  EXPECT_EQ(y.row(0)[1], 778.0f);
}

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
    kernels().linear(call);
    EXPECT_EQ(y.row(0)[0], 1001.0f);
    x[place] = 1.01171875f;
    kernels().linear(call);
    EXPECT_EQ(y.row(0)[0], 1001.015625f);
  }
}

TEST_P(Bf16KernelsTest, GiveTheProductOfRoundedNumbersForAllTilesAndRests) {
  std::mt19937 random(1);
  for (const int64_t out : {1, 5, 16, 20, 33, 48, 64, 100, 130, 144, 200}) {
    for (const int64_t num_rows : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 40}) {
      const int64_t in = RandomInt(&random, 1, 40);
      const TestLayer layer(in, out, WeightType::kBf16, &random);
      const Epilogue epilogue = kEpilogues[RandomInt(&random, 0, 2)];
      ASSERT_LE(ProductError(kernels(), layer, epilogue, num_rows, &random), 1e-6)
          << in << " to " << out << ", " << num_rows << " rows, epilogue "
          << static_cast<int>(epilogue);
    }
  }
}

TEST_P(Bf16KernelsTest, GiveTheProductForAllEpiloguesAndInputSizes) {
  std::mt19937 random(2);
  for (const Epilogue epilogue : kEpilogues) {
    for (int64_t in = 1; in <= 40; ++in) {
      const TestLayer layer(in, RandomInt(&random, 1, 70), WeightType::kBf16, &random);
      ASSERT_LE(ProductError(kernels(), layer, epilogue, RandomInt(&random, 1, 10), &random), 1e-6)
          << in << " inputs, epilogue " << static_cast<int>(epilogue);
    }
  }
}

// Weights of a MiB and more are fetched ahead.
TEST_P(Bf16KernelsTest, GiveTheProductOfALargeMatrix) {
  std::mt19937 random(3);
  const TestLayer layer(1999, 272, WeightType::kBf16, &random);
  ASSERT_GE(layer.matrix().panel_bytes(), int64_t{1} << 20);
  EXPECT_LE(ProductError(kernels(), layer, Epilogue::kStore, 2, &random), 1e-6);
}

TEST_P(Bf16KernelsTest, WriteTheColumnsOfTheirPanelsAlone) {
  std::mt19937 random(4);
  constexpr int64_t kIn = 9, kOut = 190, kPanels = 12, kStride = 208, kRows = 3;
  const TestLayer layer(kIn, kOut, WeightType::kBf16, &random);
  const std::vector<float> x = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const Epilogue epilogue : kEpilogues) {
    Rows whole(kRows, kStride);
    whole.Fill(kUntouched);
    layer.Run(kernels(), epilogue, x.data(), kIn, kRows, 0, kPanels, &whole);
    for (int64_t first = 0; first <= kPanels; ++first) {
      for (int64_t end = first; end <= kPanels; ++end) {
        Rows y(kRows + 1, kStride);
        y.Fill(kUntouched);
        layer.Run(kernels(), epilogue, x.data(), kIn, kRows, first, end, &y);
        for (int64_t r = 0; r <= kRows; ++r) {
          for (int64_t n = 0; n < kStride; ++n) {
            const bool written = r < kRows && n >= 16 * first && n < 16 * end;
            const float expected = written ? whole.row(r)[n] : kUntouched;
            if (y.row(r)[n] == expected) continue;
            FAIL() << "panels " << first << " .. " << end << ", row " << r << ", column " << n;
          }
        }
      }
    }
  }
}

TEST_P(Bf16KernelsTest, GiveARowTheSameBitsInAnyCall) {
  std::mt19937 random(5);
  constexpr int64_t kIn = 23, kOut = 150, kRows = 19;
  const TestLayer layer(kIn, kOut, WeightType::kBf16, &random);
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

TEST_P(Bf16KernelsTest, ReadNothingBehindTheirInputs) {
  std::mt19937 random(6);
  for (const int64_t in : {1, 7, 16, 33}) {
    const TestLayer layer(in, 20, WeightType::kBf16, &random);
    FloatsAtTheEnd x(5 * in);
    std::fill_n(x.first(), 5 * in, 0.5f);
    Rows y(5, 32);
    layer.Run(kernels(), Epilogue::kStore, x.first(), in, 5, 0, 2, &y);
    EXPECT_LE(RelativeError(y.row(4), layer.Expected(Epilogue::kStore, x.first(), nullptr), 1.0),
              1e-6);
  }
}

TEST_P(Bf16KernelsTest, LetNanAndInfinityThroughInTheirRowAlone) {
  std::mt19937 random(7);
  constexpr int64_t kIn = 35, kOut = 40, kRows = 5;
  const TestLayer layer(kIn, kOut, WeightType::kBf16, &random);
  const std::vector<float> good = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  Rows expected(kRows, 48);
  layer.Run(kernels(), Epilogue::kStore, good.data(), kIn, kRows, 0, 3, &expected);
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const int64_t place : {0, 15, 17, 34}) {
      std::vector<float> x = good;
      x[static_cast<size_t>(2 * kIn + place)] = bad;
      Rows y(kRows, 48);
      layer.Run(kernels(), Epilogue::kStore, x.data(), kIn, kRows, 0, 3, &y);
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
}  // namespace lzero::packed
