#include "lzero/kernels/weight_kernels.h"

#include <algorithm>

#include "lzero/kernels/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::kLanes;
using simd::Load;
using simd::Store;

constexpr int64_t kBlock = 4096;  // summed in float32, blocks are added in double

struct Squares {
  template <int Bytes>
  LZ_INLINE static void Run(const float* values, int64_t count, double* total) {
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const int64_t end = begin + kBlock < count ? begin + kBlock : count;
      const int64_t whole = end - (end - begin) % kLanes<Bytes>;
      Floats<Bytes> sums = {};
      for (int64_t j = begin; j < whole; j += kLanes<Bytes>) {
        const Floats<Bytes> x = Load<Bytes>(values + j);
        sums += x * x;
      }
      float rest = 0.0f;
      for (int64_t j = whole; j < end; ++j) rest += values[j] * values[j];
      *total += static_cast<double>(simd::Sum<Bytes>(sums)) + rest;
    }
  }
};

struct Move {
  template <int Bytes>
  LZ_INLINE static void Run(const float* from, float rate, int64_t count, float* to) {
    const int64_t whole = count - count % kLanes<Bytes>;
    for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
      const Floats<Bytes> x = Load<Bytes>(to + j);
      const Floats<Bytes> y = Load<Bytes>(from + j);
      // From the nearer end: rates 0 and 1 are exact.
      Store<Bytes>(rate < 0.5f ? x + rate * (y - x) : y - (1.0f - rate) * (y - x), to + j);
    }
    for (int64_t j = whole; j < count; ++j) {
      const float x = to[j], y = from[j];
      to[j] = rate < 0.5f ? x + rate * (y - x) : y - (1.0f - rate) * (y - x);
    }
  }
};

}  // namespace

double SumOfSquares(const float* values, int64_t count) {
  double total = 0.0;
  simd::RunWidest<Squares>(values, count, &total);
  return total;
}

void MoveTowards(const float* from, float rate, int64_t count, float* to) {
  simd::RunWidest<Move>(from, rate, count, to);
}

}  // namespace lzero
