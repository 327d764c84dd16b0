// Products by every set of kernels and with weights of every type: what both types promise. What is
// of one type alone is in linear_kernels_test.cc (fp32) and bf16_kernels_test.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/product/product_testing.h"

namespace lzero::product_kernels_test {
namespace {

using Parameters = std::tuple<InstructionSet, WeightType>;

class ProductKernelsTest : public testing::TestWithParam<Parameters> {
 protected:
  static WeightType type() { return std::get<1>(GetParam()); }

 private:
  ScopedInstructionSet set_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(
    Sets, ProductKernelsTest,
    testing::Combine(testing::ValuesIn(AvailableInstructionSets()),
                     testing::Values(WeightType::kFp32, WeightType::kBf16)),
    [](const testing::TestParamInfo<Parameters>& parameter) {
      const std::string set = InstructionSetName({std::get<0>(parameter.param), parameter.index});
      return set + (std::get<1>(parameter.param) == WeightType::kBf16 ? "_bf16" : "_fp32");
    });

// A number that no product gives, to be found again where nothing was written.
constexpr float kUntouched = 12345.678f;

TEST_P(ProductKernelsTest, GiveTheProductByHand) {
  // Inputs and weights are bf16 numbers. An odd number of inputs: the last pair has one half.
  // [1 2 3] (1, 10, 100) + 0.5 = 321.5 and [0 -1 4] (1, 10, 100) - 1 = 389.
  PackedMatrix matrix(3, 2, type());
  const std::vector<float> weight = {1, 2, 3, 0, -1, 4}, bias = {0.5f, -1};
  matrix.Pack({weight, bias}, nullptr);
  const std::vector<float> x = {1, 10, 100};
  std::vector<uint32_t> half_x(2);
  Rows y(1, 16);
  LinearCall call = {&matrix, Epilogue::kStore, x.data(), 3, y.row(0), 16, 1, 0, 1, half_x.data()};
  Linear(call);
  EXPECT_EQ(y.row(0)[0], 321.5f);
  EXPECT_EQ(y.row(0)[1], 389.0f);
  call.epilogue = Epilogue::kAdd;
  Linear(call);
  EXPECT_EQ(y.row(0)[0], 643.0f);
  EXPECT_EQ(y.row(0)[1], 778.0f);
}

TEST_P(ProductKernelsTest, GiveTheProductForAllTilesAndRests) {
  std::mt19937 random(1);
  for (const int64_t out : {1, 5, 16, 20, 33, 48, 64, 100, 130, 144, 200}) {
    for (const int64_t num_rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 25, 40}) {
      const int64_t in = RandomInt(&random, 1, 40);
      const TestLayer layer(in, out, type(), &random);
      const Epilogue epilogue = kEpilogues[RandomInt(&random, 0, 2)];
      ASSERT_LE(ProductError(layer, epilogue, num_rows, &random), 1e-6)
          << in << " to " << out << ", " << num_rows << " rows, epilogue "
          << static_cast<int>(epilogue);
    }
  }
}

TEST_P(ProductKernelsTest, GiveTheProductForAllEpiloguesAndInputSizes) {
  std::mt19937 random(2);
  for (const Epilogue epilogue : kEpilogues) {
    for (int64_t in = 1; in <= 40; ++in) {
      const TestLayer layer(in, RandomInt(&random, 1, 70), type(), &random);
      ASSERT_LE(ProductError(layer, epilogue, RandomInt(&random, 1, 10), &random), 1e-6)
          << in << " inputs, epilogue " << static_cast<int>(epilogue);
    }
  }
}

// Weights of a MiB and more are fetched ahead.
TEST_P(ProductKernelsTest, GiveTheProductOfALargeMatrix) {
  std::mt19937 random(3);
  const TestLayer layer(1999, 272, type(), &random);
  ASSERT_GE(layer.matrix().panel_bytes(), int64_t{1} << 20);
  EXPECT_LE(ProductError(layer, Epilogue::kStore, 1, &random), 1e-6);
  EXPECT_LE(ProductError(layer, Epilogue::kStore, 3, &random), 1e-6);
}

TEST_P(ProductKernelsTest, WriteTheColumnsOfTheirPanelsAlone) {
  std::mt19937 random(4);
  constexpr int64_t kIn = 9, kOut = 190, kPanels = 12, kStride = 208;
  const TestLayer layer(kIn, kOut, type(), &random);
  for (const int64_t num_rows : {1, 3, 10}) {
    const std::vector<float> x = RandomNumbers(&random, num_rows * kIn, -1.0f, 1.0f);
    for (const Epilogue epilogue : kEpilogues) {
      Rows whole(num_rows, kStride);
      whole.Fill(kUntouched);
      layer.Run(epilogue, x.data(), kIn, num_rows, 0, kPanels, &whole);
      for (int64_t first = 0; first <= kPanels; ++first) {
        for (int64_t end = first; end <= kPanels; ++end) {
          Rows y(num_rows + 1, kStride);
          y.Fill(kUntouched);
          layer.Run(epilogue, x.data(), kIn, num_rows, first, end, &y);
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

TEST_P(ProductKernelsTest, GiveARowTheSameBitsInAnyCall) {
  std::mt19937 random(5);
  constexpr int64_t kIn = 23, kOut = 150, kRows = 19;
  const TestLayer layer(kIn, kOut, type(), &random);
  const std::vector<float> x = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const Epilogue epilogue : kEpilogues) {
    Rows alone(kRows, 160);
    for (int64_t r = 0; r < kRows; ++r) {
      Rows y(1, 160);
      y.Fill(0.25f);
      layer.Run(epilogue, x.data() + r * kIn, kIn, 1, 0, 10, &y);
      std::copy_n(y.row(0), kOut, alone.row(r));
    }
    for (int64_t num_rows = 2; num_rows <= kRows; ++num_rows) {
      Rows y(num_rows, 160);
      y.Fill(0.25f);
      const int64_t first = kRows - num_rows;
      layer.Run(epilogue, x.data() + first * kIn, kIn, num_rows, 0, 10, &y);
      for (int64_t r = 0; r < num_rows; ++r) {
        ASSERT_TRUE(SameBits(y.row(r), alone.row(first + r), kOut)) << num_rows << " rows, " << r;
      }
    }
  }
}

TEST_P(ProductKernelsTest, ReadNothingBehindTheirInputs) {
  std::mt19937 random(6);
  for (const int64_t in : {1, 7, 16, 33}) {
    const TestLayer layer(in, 20, type(), &random);
    FloatsAtTheEnd x(5 * in);
    std::fill_n(x.first(), 5 * in, 0.5f);
    Rows y(5, 32);
    layer.Run(Epilogue::kStore, x.first(), in, 5, 0, 2, &y);
    EXPECT_LE(RelativeError(y.row(4), layer.Expected(Epilogue::kStore, x.first(), nullptr), 1.0),
              1e-6);
  }
}

TEST_P(ProductKernelsTest, WriteNothingForNoRows) {
  std::mt19937 random(8);
  const TestLayer layer(5, 20, type(), &random);
  const std::vector<float> x(5);
  Rows y(1, 32);
  y.Fill(kUntouched);
  for (const Epilogue epilogue : kEpilogues) {
    layer.Run(epilogue, x.data(), 5, 0, 0, 2, &y);
    for (int64_t n = 0; n < 32; ++n) EXPECT_EQ(y.row(0)[n], kUntouched);
  }
}

}  // namespace
}  // namespace lzero::product_kernels_test
