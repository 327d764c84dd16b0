// exp, 2^x, sums and the terms of a softmax with every instruction set, against the standard
// library in double or by hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lzero/kernels/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/simd_inl_test.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

void ExpAll(const float* x, int64_t count, float* y) {
  ForEachVector(
      count, [&](int64_t j, auto lanes) HWY_ATTR { Store(lanes, Exp(Load(lanes, x + j)), y + j); });
}

void Exp2All(const float* x, int64_t count, float* y) {
  ForEachVector(count, [&](int64_t j, auto lanes)
                           HWY_ATTR { Store(lanes, Exp2(Load(lanes, x + j)), y + j); });
}

// Sums of the first lanes of four rows of x, one by one and at once; returns the number of lanes.
int64_t SumsOfFour(const float* x, float* one_by_one, float* at_once) {
  const Floats rows[4] = {Load(x), Load(x + 16), Load(x + 32), Load(x + 48)};
  for (int i = 0; i < 4; ++i) one_by_one[i] = 0.5f * Sum(rows[i]);
  SumFour(rows, 0.5f, at_once);
  return kLanes;
}

HWY_INLINE ExponentialSum ExpOfRow(float* x, int64_t count) {
  return SumExponentials(
      x, count, [&](int64_t j, auto lanes, Floats power) HWY_ATTR { Store(lanes, power, x + j); });
}

// The struct of each set has a type of its own.
void SumOfRow(float* x, int64_t count, float* largest, float* sum) {
  const ExponentialSum both = ExpOfRow(x, count);
  *largest = both.largest;
  *sum = both.sum;
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "tests/kernels/kernel_testing.h"

namespace lzero::simd_inl_test {
namespace {

class SimdTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(SimdTest);

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_P(SimdTest, ExpIsThatOfTheStandardLibrary) {
  std::vector<float> x;
  for (float value = -86.5f; value < 87.5f; value += 0.0137f) x.push_back(value);
  x.insert(x.end(), {0.0f, -0.0f, 1e-20f, 1.0f});
  std::vector<float> y(x.size());
  LZ_KERNEL(ExpAll)(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1.0, 2e-7) << "x = " << x[i];
  }
}

TEST_P(SimdTest, ExpOfTheEnds) {
  const std::vector<float> x = {-kInfinity, -200.0f, std::nanf(""), 100.0f};
  std::vector<float> y(x.size());
  LZ_KERNEL(ExpAll)(x.data(), 4, y.data());
  EXPECT_LT(y[0], 1e-37f);
  EXPECT_LT(y[1], 1e-37f);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_GT(y[3], 1e38f);
}

TEST_P(SimdTest, Exp2IsThatOfTheStandardLibrary) {
  std::vector<float> x;
  for (float value = -125.5f; value < 125.5f; value += 0.0137f) x.push_back(value);
  // Halves are rounded to one side or the other.
  for (float value = -125.5f; value < 126.0f; value += 1.0f) x.push_back(value);
  x.insert(x.end(), {0.0f, -0.0f, 1e-20f, 1.0f, -126.0f, 126.0f});
  std::vector<float> y(x.size());
  LZ_KERNEL(Exp2All)(x.data(), static_cast<int64_t>(x.size()), y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i] / std::exp2(static_cast<double>(x[i])), 1.0, 3e-7) << "x = " << x[i];
  }
}

TEST_P(SimdTest, Exp2OfTheEnds) {
  const std::vector<float> x = {-kInfinity, -1e30f,    -126.5f,      126.5f,
                                1e30f,      kInfinity, std::nanf("")};
  std::vector<float> y(x.size());
  LZ_KERNEL(Exp2All)(x.data(), 7, y.data());
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(y[i], 0.0f) << "x = " << x[i];
    EXPECT_LE(y[i], 1.2e-38f) << "x = " << x[i];
  }
  for (int i = 3; i < 6; ++i) EXPECT_GE(y[i], 8.5e37f) << "x = " << x[i];
  EXPECT_TRUE(std::isnan(y[6]));
}

TEST_P(SimdTest, ExponentialsOfARowInPlace) {
  for (const int64_t count : {1, 2, 4, 5, 16, 17, 40}) {
    std::vector<float> row(static_cast<size_t>(count) + 1, -7.0f), x = row;
    double expected = 0.0;
    const float top = 0.5f * static_cast<float>(count) - 3.0f;
    for (int64_t i = 0; i < count; ++i) {
      row[i] = x[i] = top - 0.5f * static_cast<float>((i * 7) % count);
      expected += std::exp(static_cast<double>(x[i]) - static_cast<double>(top));
    }
    float largest = 0.0f, sum = 0.0f;
    LZ_KERNEL(SumOfRow)(row.data(), count, &largest, &sum);
    EXPECT_EQ(largest, *std::max_element(x.begin(), x.begin() + count)) << count;
    EXPECT_NEAR(sum / expected, 1.0, 1e-6) << count;
    for (int64_t i = 0; i < count; ++i) EXPECT_NEAR(row[i], std::exp(x[i] - largest), 1e-6);
    EXPECT_EQ(row.back(), -7.0f) << "behind the end";
    x[static_cast<size_t>(count / 2)] = std::nanf("");
    LZ_KERNEL(SumOfRow)(x.data(), count, &largest, &sum);
    EXPECT_TRUE(std::isnan(sum)) << count;
  }
}

TEST_P(SimdTest, SumsAddEveryLane) {
  std::vector<float> x(64);
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>((i / 16 + 1) << (i % 16));
  float one_by_one[4], at_once[4];
  const int64_t lanes = LZ_KERNEL(SumsOfFour)(x.data(), one_by_one, at_once);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(one_by_one[i], 0.5f * static_cast<float>((i + 1) * ((1 << lanes) - 1)));
    EXPECT_EQ(at_once[i], one_by_one[i]);
  }
}

}  // namespace
}  // namespace lzero::simd_inl_test
#endif
