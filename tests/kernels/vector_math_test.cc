// exp, 2^x, sums and the transposed square of every instruction set, against the standard library
// in double or by hand.
#include "lzero/kernels/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::vector_math_test {
namespace {

struct ExpKernel {
  template <int Bytes>
  LZ_INLINE static void Run(const float* x, float* y, int64_t count) {
    for (int64_t j = 0; j < count; j += simd::kLanes<Bytes>) {
      const auto part = simd::LoadSome<Bytes, false>(x + j, count - j);
      simd::StoreSome<Bytes, false>(simd::Exp<Bytes>(part), y + j, count - j);
    }
  }
};

struct Exp2Kernel {
  template <int Bytes>
  LZ_INLINE static void Run(const float* x, float* y, int64_t count) {
    for (int64_t j = 0; j < count; j += simd::kLanes<Bytes>) {
      const auto part = simd::LoadSome<Bytes, false>(x + j, count - j);
      simd::StoreSome<Bytes, false>(simd::Exp2<Bytes>(part), y + j, count - j);
    }
  }
};

struct TransposeKernel {
  template <int Bytes>
  LZ_INLINE static void Run(float* square) {
    constexpr int kCount = simd::kLanes<Bytes>;
    simd::Floats<Bytes> rows[kCount];
    for (int i = 0; i < kCount; ++i) rows[i] = simd::Load<Bytes>(square + i * kCount);
    simd::Transpose<Bytes>(rows);
    for (int i = 0; i < kCount; ++i) simd::Store<Bytes>(rows[i], square + i * kCount);
  }
};

struct ExpOfRowKernel {
  template <int Bytes>
  LZ_INLINE static void Run(float* row, int64_t count, simd::ExponentialSum* sum) {
    *sum = simd::ExpOfRow<Bytes>(row, count, row);
  }
};

// The bytes of the registers it runs with.
struct WidthKernel {
  template <int Bytes>
  LZ_INLINE static void Run(int* bytes) {
    *bytes = Bytes;
  }
};

struct SumKernel {
  template <int Bytes>
  LZ_INLINE static void Run(const float* x, float* sum) {
    *sum = simd::Sum<Bytes>(simd::Load<Bytes>(x));
  }
};

template <typename Kernel, typename... Arguments>
void RunEach(int bytes, Arguments... arguments) {
  if (bytes == 64) simd::RunAvx512<Kernel>(arguments...);
  if (bytes == 32) simd::RunAvx2<Kernel>(arguments...);
  if (bytes == 16) simd::RunSse<Kernel>(arguments...);
}

TEST(VectorMathTest, ExpIsThatOfTheStandardLibrary) {
  std::vector<float> x;
  for (float value = -86.5f; value < 87.5f; value += 0.0137f) x.push_back(value);
  x.insert(x.end(), {0.0f, -0.0f, 1e-20f, 1.0f});
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    std::vector<float> y(x.size());
    RunEach<ExpKernel, const float*, float*, int64_t>(bytes, x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      ASSERT_NEAR(y[i] / expected, 1.0, 2e-7) << bytes << " bytes, x = " << x[i];
    }
  }
}

TEST(VectorMathTest, ExpOfTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-infinity, -200.0f, std::nanf(""), 100.0f};
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    std::vector<float> y(x.size());
    RunEach<ExpKernel, const float*, float*, int64_t>(bytes, x.data(), y.data(), x.size());
    EXPECT_LT(y[0], 1e-37f);
    EXPECT_LT(y[1], 1e-37f);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_GT(y[3], 1e38f);
  }
}

TEST(VectorMathTest, Exp2IsThatOfTheStandardLibrary) {
  std::vector<float> x;
  for (float value = -125.5f; value < 125.5f; value += 0.0137f) x.push_back(value);
  // Halves are rounded to one side or the other.
  for (float value = -125.5f; value < 126.0f; value += 1.0f) x.push_back(value);
  x.insert(x.end(), {0.0f, -0.0f, 1e-20f, 1.0f, -126.0f, 126.0f});
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    std::vector<float> y(x.size());
    RunEach<Exp2Kernel, const float*, float*, int64_t>(bytes, x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp2(static_cast<double>(x[i]));
      ASSERT_NEAR(y[i] / expected, 1.0, 3e-7) << bytes << " bytes, x = " << x[i];
    }
  }
}

TEST(VectorMathTest, Exp2OfTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-infinity, -1e30f, -126.5f, 126.5f, 1e30f, infinity, std::nanf("")};
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    std::vector<float> y(x.size());
    RunEach<Exp2Kernel, const float*, float*, int64_t>(bytes, x.data(), y.data(), x.size());
    for (int i = 0; i < 3; ++i) {
      EXPECT_GE(y[i], 0.0f) << bytes << " bytes, x = " << x[i];
      EXPECT_LE(y[i], 1.2e-38f) << bytes << " bytes, x = " << x[i];
    }
    for (int i = 3; i < 6; ++i) EXPECT_GE(y[i], 8.5e37f) << bytes << " bytes, x = " << x[i];
    EXPECT_TRUE(std::isnan(y[6]));
  }
}

TEST(VectorMathTest, ExpOfARowInPlace) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    for (const int64_t count : {1, 2, 4, 5, 16, 17, 40}) {
      std::vector<float> row(48, -infinity), x = row;
      double expected = 0.0;
      const float largest = 0.5f * static_cast<float>(count) - 3.0f;
      for (int64_t i = 0; i < count; ++i) {
        row[i] = x[i] = largest - 0.5f * static_cast<float>((i * 7) % count);
        expected += std::exp(static_cast<double>(x[i]) - largest);
      }
      simd::ExponentialSum sum = {};
      RunEach<ExpOfRowKernel, float*, int64_t, simd::ExponentialSum*>(bytes, row.data(), count,
                                                                      &sum);
      EXPECT_EQ(sum.largest, *std::max_element(x.begin(), x.begin() + count)) << count;
      EXPECT_NEAR(sum.sum / expected, 1.0, 1e-6) << bytes << " bytes, " << count;
      for (int64_t i = 0; i < count; ++i) EXPECT_NEAR(row[i], std::exp(x[i] - sum.largest), 1e-6);
      const int64_t lanes = bytes / 4, whole = (count + lanes - 1) / lanes * lanes;
      for (int64_t i = count; i < whole; ++i) EXPECT_EQ(row[i], 0.0f) << "behind the end";
      row.assign(48, -infinity);
      for (int64_t i = 0; i < count; ++i) row[i] = i == count / 2 ? std::nanf("") : 1.0f;
      RunEach<ExpOfRowKernel, float*, int64_t, simd::ExponentialSum*>(bytes, row.data(), count,
                                                                      &sum);
      EXPECT_TRUE(std::isnan(sum.sum)) << bytes << " bytes, " << count;
    }
  }
}

TEST(VectorMathTest, TransposesASquare) {
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    const int count = bytes / 4;
    std::vector<float> square(count * count);
    for (size_t i = 0; i < square.size(); ++i) square[i] = static_cast<float>(i);
    RunEach<TransposeKernel, float*>(bytes, square.data());
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        ASSERT_EQ(square[i * count + j], static_cast<float>(j * count + i)) << bytes << " bytes";
      }
    }
  }
}

TEST(VectorMathTest, FittingRegistersHoldTheCountOrAreTheWidest) {
  const auto width_for = [](int64_t count) {
    int bytes = 0;
    simd::RunFitting<WidthKernel>(count, &bytes);
    return bytes;
  };
  const int widest = simd::RegisterBytes();
  EXPECT_EQ(width_for(1), 16);
  EXPECT_EQ(width_for(4), 16);
  EXPECT_EQ(width_for(5), std::min(widest, 32));
  EXPECT_EQ(width_for(8), std::min(widest, 32));
  EXPECT_EQ(width_for(9), widest);
  EXPECT_EQ(width_for(1000), widest);
}

TEST(VectorMathTest, SumAddsEveryLane) {
  std::vector<float> x(16);
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(1 << i);
  for (int bytes = 16; bytes <= simd::RegisterBytes(); bytes *= 2) {
    float sum = 0.0f;
    RunEach<SumKernel, const float*, float*>(bytes, x.data(), &sum);
    EXPECT_EQ(sum, static_cast<float>((1 << (bytes / 4)) - 1));
  }
}

}  // namespace
}  // namespace lzero::vector_math_test
