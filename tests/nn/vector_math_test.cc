// exp and GELU of every instruction set against the standard library in double.
#include "lzero/nn/vector_math.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace lzero {
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
}  // namespace lzero
