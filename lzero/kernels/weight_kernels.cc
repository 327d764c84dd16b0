#include "lzero/kernels/weight_kernels.h"

#include <algorithm>

#include "lzero/kernels/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/weight_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

double Squares(const float* values, int64_t count) {
  constexpr int64_t kBlock = 4096;  // summed in float32, blocks are added in double
  double total = 0.0;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = begin + kBlock < count ? kBlock : count - begin;
    Floats sums = Zero();
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats x = Load(lanes, values + begin + j);
      sums = hn::MulAdd(x, x, sums);
    });
    total += static_cast<double>(Sum(sums));
  }
  return total;
}

void Move(const float* from, float rate, int64_t count, float* to) {
  ForEachVector(count, [&](int64_t j, auto lanes) HWY_ATTR {
    const Floats x = Load(lanes, to + j), y = Load(lanes, from + j), step = hn::Sub(y, x);
    // From the nearer end: rates 0 and 1 are exact.
    const Floats moved =
        rate < 0.5f ? hn::MulAdd(Set(rate), step, x) : hn::NegMulAdd(Set(1.0f - rate), step, y);
    Store(lanes, moved, to + j);
  });
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {

double SumOfSquares(const float* values, int64_t count) {
  return LZ_KERNEL(Squares)(values, count);
}

void MoveTowards(const float* from, float rate, int64_t count, float* to) {
  LZ_KERNEL(Move)(from, rate, count, to);
}

}  // namespace lzero
#endif
