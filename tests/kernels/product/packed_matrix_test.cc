#include "lzero/kernels/product/packed_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/kernels/kernel_testing.h"

namespace lzero::packed_matrix_test {
namespace {

// The value of a bf16 number; the one behind the largest is 2^128, where rounding begins to say
// infinity.
double ValueOfBf16(uint32_t bits) {
  if ((bits & 0x7fffu) == 0x7f80u) return (bits & 0x8000u) != 0 ? -0x1p128 : 0x1p128;
  return FloatOfBits(bits << 16);
}

// By the distances to the two neighbours, which are told apart in double without rounding.
uint16_t NearestBf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t below = bits >> 16, above = below + 1;  // in magnitude
  const double to_below = std::abs(static_cast<double>(value) - ValueOfBf16(below));
  const double to_above = std::abs(ValueOfBf16(above) - static_cast<double>(value));
  if (to_below != to_above) return static_cast<uint16_t>(to_below < to_above ? below : above);
  return static_cast<uint16_t>(below % 2 == 0 ? below : above);
}

TEST(ToBf16Test, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t half = 0; half < 0x7f80u; ++half) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      for (const uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        const float value = FloatOfBits(sign | half << 16 | low);
        ASSERT_EQ(ToBf16(value), NearestBf16(value)) << std::hexfloat << value;
      }
    }
  }
}

TEST(ToBf16Test, RoundsRandomNumbers) {
  std::mt19937 random(1);
  for (int i = 0; i < 50000; ++i) {
    const float value = FloatOfBits(static_cast<uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(ToBf16(value), NearestBf16(value)) << std::hexfloat << value;
  }
}

TEST(ToBf16Test, KnowsNumbersByHand) {
  EXPECT_EQ(ToBf16(1.0f), 0x3f80);
  EXPECT_EQ(ToBf16(-2.5f), 0xc020);
  EXPECT_EQ(ToBf16(1.00390625f), 0x3f80);  // 1 + 2^-8 lies between 1 and 1 + 2^-7: to even
  EXPECT_EQ(ToBf16(1.01171875f), 0x3f82);  // 1 + 3 * 2^-8: to even, upwards
  EXPECT_EQ(ToBf16(0.0f), 0x0000);
  EXPECT_EQ(ToBf16(-0.0f), 0x8000);
}

TEST(ToBf16Test, KeepsInfinityAndNan) {
  EXPECT_EQ(ToBf16(kInfinity), 0x7f80);
  EXPECT_EQ(ToBf16(-kInfinity), 0xff80);
  EXPECT_EQ(ToBf16(std::numeric_limits<float>::max()), 0x7f80);
  // A NaN whose upper half alone would be infinity, both signs, and one of all ones.
  for (const uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fc00000u}) {
    const uint32_t rounded = ToBf16(FloatOfBits(bits));
    EXPECT_TRUE(std::isnan(FloatOfBits(rounded << 16))) << std::hex << bits;
    EXPECT_EQ(rounded >> 15, bits >> 31) << "keeps its sign";
  }
}

TEST(PaddedSizeTest, IsWholePanels) {
  EXPECT_EQ(PaddedSize(0), 0);
  EXPECT_EQ(PaddedSize(1), 16);
  EXPECT_EQ(PaddedSize(16), 16);
  EXPECT_EQ(PaddedSize(17), 32);
}

TEST(AlignedArrayTest, IsZeroedAndAlignedInAllSizes) {
  for (const int64_t size : {1, 15, 16, 17, 1000, 524288, 600000}) {
    const AlignedArray<float> array(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kRegisterBytes, 0u) << size;
    EXPECT_EQ(array.size(), size);
    EXPECT_EQ(array.bytes(), size * 4);
    EXPECT_EQ(std::accumulate(array.data(), array.data() + size, 0.0f,
                              [](float sum, float x) { return sum + std::abs(x); }),
              0.0f);
  }
  const AlignedArray<float> none(0);
  EXPECT_EQ(none.size(), 0);
}

TEST(AlignedArrayTest, MovesItsMemory) {
  AlignedArray<float> array(20);
  array[19] = 3.0f;
  const float* memory = array.data();
  AlignedArray<float> moved = std::move(array);
  EXPECT_EQ(moved.data(), memory);
  EXPECT_EQ(moved.size(), 20);
  EXPECT_EQ(moved[19], 3.0f);
  AlignedArray<float> assigned(5);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), memory);
  EXPECT_EQ(assigned.size(), 20);
}

// A layer whose weight [n][k] is n + k / 4, exact in bf16 for small sizes, and bias -n.
struct CountingLayer {
  CountingLayer(int64_t in, int64_t out) {
    for (int64_t n = 0; n < out; ++n) {
      bias.push_back(static_cast<float>(-n));
      for (int64_t k = 0; k < in; ++k) weight.push_back(Weight(n, k));
    }
  }
  static float Weight(int64_t n, int64_t k) {
    return static_cast<float>(n) + static_cast<float>(k) / 4.0f;
  }
  LinearWeights spans() const { return {weight, bias}; }

  std::vector<float> weight, bias;
};

TEST(PackedMatrixTest, KeepsWeightsInPanelsOf16Columns) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    for (const int64_t in : {1, 2, 7, 16}) {
      for (const int64_t out : {1, 15, 16, 17, 33}) {
        PackedMatrix matrix(in, out, type);
        matrix.Pack(CountingLayer(in, out).spans(), nullptr);
        EXPECT_EQ(matrix.num_panels(), (out + 15) / 16);
        const int64_t kept_in = type == WeightType::kFp32 ? in : (in + 1) / 2 * 2;
        for (int64_t n = 0; n < matrix.num_panels() * 16; ++n) {
          const bool is_output = n < out;
          ASSERT_EQ(matrix.bias()[n], is_output ? static_cast<float>(-n) : 0.0f);
          for (int64_t k = 0; k < kept_in; ++k) {
            const float expected = is_output && k < in ? CountingLayer::Weight(n, k) : 0.0f;
            ASSERT_EQ(KeptWeight(matrix, n, k), expected) << n << " " << k;
          }
        }
      }
    }
  }
}

TEST(PackedMatrixTest, CountsItsBytes) {
  // 3 panels of 5 inputs, 16 columns, 4 bytes, and 48 biases.
  EXPECT_EQ(PackedMatrix::Bytes(5, 33, WeightType::kFp32), 3 * 5 * 16 * 4 + 48 * 4);
  EXPECT_EQ(PackedMatrix(5, 33, WeightType::kFp32).panel_bytes(), 3 * 5 * 16 * 4);
  // 3 pairs of inputs, 2 bytes each.
  EXPECT_EQ(PackedMatrix::Bytes(5, 33, WeightType::kBf16), 3 * 3 * 16 * 2 * 2 + 48 * 4);
  EXPECT_EQ(PackedMatrix(5, 33, WeightType::kBf16).panel_bytes(), 3 * 3 * 16 * 2 * 2);
}

TEST(PackedMatrixTest, StartsWithZeros) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    const PackedMatrix matrix(3, 18, type);
    EXPECT_EQ(matrix.in(), 3);
    EXPECT_EQ(matrix.out(), 18);
    for (int64_t n = 0; n < 32; ++n) {
      EXPECT_EQ(matrix.bias()[n], 0.0f);
      for (int64_t k = 0; k < 3; ++k) EXPECT_EQ(KeptWeight(matrix, n, k), 0.0f);
    }
  }
}

TEST(PackedMatrixTest, FoldsANormByHand) {
  // y = [1 2] n + 0.5 and [3 -4] n - 1 with n = x * (2, 10) + (0.25, -1):
  // weights [2 20], [6 -40]; biases 0.5 + 0.25 - 2 = -1.25 and -1 + 0.75 + 4 = 3.75.
  const std::vector<float> weight = {1, 2, 3, -4}, bias = {0.5f, -1};
  const std::vector<float> norm_weight = {2, 10}, norm_bias = {0.25f, -1};
  const NormWeights norm = {norm_weight, norm_bias};
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    PackedMatrix matrix(2, 2, type);
    matrix.Pack({weight, bias}, &norm);
    EXPECT_EQ(KeptWeight(matrix, 0, 0), 2.0f);
    EXPECT_EQ(KeptWeight(matrix, 0, 1), 20.0f);
    EXPECT_EQ(KeptWeight(matrix, 1, 0), 6.0f);
    EXPECT_EQ(KeptWeight(matrix, 1, 1), -40.0f);
    EXPECT_EQ(matrix.bias()[0], -1.25f);
    EXPECT_EQ(matrix.bias()[1], 3.75f);
  }
}

TEST(PackedMatrixTest, PacksAgainAtTheSameAddresses) {
  std::mt19937 random(2);
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    PackedMatrix matrix(7, 20, type);
    matrix.Pack(CountingLayer(7, 20).spans(), nullptr);
    const void* const places[] = {matrix.bias(), matrix.panels(), matrix.half_panels()};
    const std::vector<float> weight = RandomNumbers(&random, 140, -1.0f, 1.0f);
    const std::vector<float> bias = RandomNumbers(&random, 20, -1.0f, 1.0f);
    matrix.Pack({weight, bias}, nullptr);
    const void* const places_after[] = {matrix.bias(), matrix.panels(), matrix.half_panels()};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(places[i], places_after[i]);
    for (int64_t n = 0; n < 20; ++n) {
      EXPECT_EQ(matrix.bias()[n], bias[static_cast<size_t>(n)]);
      for (int64_t k = 0; k < 7; ++k) {
        const float value = weight[static_cast<size_t>(n * 7 + k)];
        const float expected = type == WeightType::kFp32
                                   ? value
                                   : FloatOfBits(static_cast<uint32_t>(NearestBf16(value)) << 16);
        EXPECT_EQ(KeptWeight(matrix, n, k), expected);
      }
    }
  }
}

TEST(PackedMatrixDeathTest, RefusesWrongSizes) {
  EXPECT_DEATH(PackedMatrix(0, 3, WeightType::kFp32), "a matrix of 0 to 3");
  EXPECT_DEATH(PackedMatrix(3, 0, WeightType::kBf16), "a matrix of 3 to 0");
  PackedMatrix matrix(2, 3, WeightType::kFp32);
  const std::vector<float> six(6), five(5), three(3), two(2);
  EXPECT_DEATH(matrix.Pack({five, three}, nullptr), "5 weights and 3 biases for 2 to 3");
  EXPECT_DEATH(matrix.Pack({six, two}, nullptr), "6 weights and 2 biases for 2 to 3");
  const NormWeights short_scale = {three, two}, short_shift = {two, three};
  EXPECT_DEATH(matrix.Pack({six, three}, &short_scale), "a norm of 3 and 2 for 2 inputs");
  EXPECT_DEATH(matrix.Pack({six, three}, &short_shift), "a norm of 2 and 3 for 2 inputs");
}

}  // namespace
}  // namespace lzero::packed_matrix_test
