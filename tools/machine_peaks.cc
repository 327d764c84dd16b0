#include "tools/machine_peaks.h"

#include <immintrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lzero/base/stopwatch.h"
#include "tools/source_commit.h"

namespace lzero {
namespace {

constexpr int kAccumulators = 12;  // enough to hide the latency of a fused multiply-add
constexpr int64_t kLoops = 1000000;
// Keeps results alive so that the measured loops are not removed.
volatile float sink;

__attribute__((target("avx512f"))) double FmaSecondsAvx512() {
  __m512 sums[kAccumulators];
  for (auto& sum : sums) sum = _mm512_set1_ps(1.0f);
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  const double start = MonotonicSeconds();
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) sums[j] = _mm512_fmadd_ps(sums[j], a, b);
  }
  const double seconds = MonotonicSeconds() - start;
  float values[16];
  for (int j = 1; j < kAccumulators; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
  _mm512_storeu_ps(values, sums[0]);
  sink = values[0];
  return seconds;
}

__attribute__((target("avx2,fma"))) double FmaSecondsAvx2() {
  __m256 sums[kAccumulators];
  for (auto& sum : sums) sum = _mm256_set1_ps(1.0f);
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  const double start = MonotonicSeconds();
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) sums[j] = _mm256_fmadd_ps(sums[j], a, b);
  }
  const double seconds = MonotonicSeconds() - start;
  float values[8];
  for (int j = 1; j < kAccumulators; ++j) sums[0] = _mm256_add_ps(sums[0], sums[j]);
  _mm256_storeu_ps(values, sums[0]);
  sink = values[0];
  return seconds;
}

__attribute__((target("avx512f"))) float SumAvx512(const float* values, int64_t count) {
  __m512 sums[8];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (int64_t i = 0; i + 128 <= count; i += 128) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      sums[j] = _mm512_add_ps(sums[j], _mm512_loadu_ps(values + i + 16 * j));
    }
  }
  float total = 0.0f;
  for (const auto& sum : sums) {
    float lanes[16];
    _mm512_storeu_ps(lanes, sum);
    for (const float lane : lanes) total += lane;
  }
  return total;
}

float SumPlain(const float* values, int64_t count) {
  float sums[16] = {};
  for (int64_t i = 0; i + 16 <= count; i += 16) {
    for (int j = 0; j < 16; ++j) sums[j] += values[i + j];
  }
  float total = 0.0f;
  for (const float sum : sums) total += sum;
  return total;
}

}  // namespace

double MeasurePeakGflops() {
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !__builtin_cpu_supports("fma")) return 0.0;
  const double lanes = wide ? 16.0 : 8.0;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    best = std::min(best, wide ? FmaSecondsAvx512() : FmaSecondsAvx2());
  }
  return 2.0 * lanes * kAccumulators * static_cast<double>(kLoops) / best * 1e-9;
}

double MeasureReadGbs(int64_t num_bytes) {
  const std::vector<float> values(static_cast<size_t>(num_bytes) / sizeof(float), 1.0f);
  const int64_t count = static_cast<int64_t>(values.size());
  const bool wide = __builtin_cpu_supports("avx512f");
  const int64_t repeats = std::max<int64_t>(1, (int64_t{256} << 20) / num_bytes);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = MonotonicSeconds();
    for (int64_t i = 0; i < repeats; ++i) {
      sink = wide ? SumAvx512(values.data(), count) : SumPlain(values.data(), count);
    }
    best = std::min(best, (MonotonicSeconds() - start) / static_cast<double>(repeats));
  }
  return static_cast<double>(num_bytes) / best * 1e-9;
}

double LoadAverage() {
  double load[1] = {0.0};
  return getloadavg(load, 1) == 1 ? load[0] : 0.0;
}

std::string SourceCommit() { return LZERO_COMMIT; }

}  // namespace lzero
