#include "tools/bench/table/machine_peaks.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "lzero/base/stopwatch.h"

namespace lzero {
namespace {

constexpr int kPasses = 5;         // of which the fastest counts
constexpr int kAccumulators = 12;  // enough to hide the latency of a fused multiply-add
constexpr int64_t kLoops = 1000000;
constexpr int64_t kReadBytes = int64_t{256} << 20;  // of one pass, at least
constexpr int64_t kFloatsAtOnce = 128;              // read by one step of the loop, on any CPU

// One vector register.
template <int RegisterBytes>
struct Register {
  typedef float Floats __attribute__((vector_size(RegisterBytes)));
  static constexpr int64_t kLanes = RegisterBytes / int64_t{sizeof(float)};
};

// The generic loops are compiled once for each instruction set, inside the functions below.
template <int RegisterBytes>
[[gnu::always_inline]] inline float MultiplyAddLoop() {
  using Floats = typename Register<RegisterBytes>::Floats;
  volatile float factor = 0.999f, term = 0.001f;  // known numbers would be folded away
  const Floats a = Floats{} + factor, b = Floats{} + term;
  Floats sums[kAccumulators];
  for (int j = 0; j < kAccumulators; ++j) sums[j] = Floats{} + static_cast<float>(j);
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) sums[j] = sums[j] * a + b;
  }
  for (int j = 1; j < kAccumulators; ++j) sums[0] += sums[j];
  return sums[0][0];
}

template <int RegisterBytes>
[[gnu::always_inline]] inline float ReadLoop(const float* values, int64_t count) {
  using Floats = typename Register<RegisterBytes>::Floats;
  constexpr int64_t kLanes = Register<RegisterBytes>::kLanes;
  Floats sums[8] = {};
  for (int64_t i = 0; i < count; i += 8 * kLanes) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      Floats part;
      std::memcpy(&part, values + i + j * kLanes, sizeof(part));
      sums[j] += part;
    }
  }
  for (int j = 1; j < 8; ++j) sums[0] += sums[j];
  return sums[0][0];
}

__attribute__((target("avx512f"))) float MultiplyAddAvx512() { return MultiplyAddLoop<64>(); }
__attribute__((target("avx2,fma"))) float MultiplyAddAvx2() { return MultiplyAddLoop<32>(); }
float MultiplyAddSse() { return MultiplyAddLoop<16>(); }

__attribute__((target("avx512f"))) float ReadAvx512(const float* values, int64_t count) {
  return ReadLoop<64>(values, count);
}
__attribute__((target("avx2,fma"))) float ReadAvx2(const float* values, int64_t count) {
  return ReadLoop<32>(values, count);
}
float ReadSse(const float* values, int64_t count) { return ReadLoop<16>(values, count); }

#if defined(__GNUC__) && !defined(__clang__)
// A lane sums two products an instruction.
__attribute__((target("avx512f,avx512bf16"))) float Bf16ProductsAvx512() {
  typedef short Halves __attribute__((vector_size(64)));
  volatile short one = 0x3f80;
  const Halves a = Halves{} + one;
  Register<64>::Floats sums[kAccumulators] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kAccumulators; ++j) {
      sums[j] = __builtin_ia32_dpbf16ps_v16sf(sums[j], a, a);
    }
  }
  for (int j = 1; j < kAccumulators; ++j) sums[0] += sums[j];
  return sums[0][0];
}
bool HasBf16Products() { return __builtin_cpu_supports("avx512bf16"); }
#else
float Bf16ProductsAvx512() { return 0.0f; }
bool HasBf16Products() { return false; }
#endif

struct Kernels {
  int64_t lanes;
  float (*multiply_add)();
  float (*read)(const float* values, int64_t count);  // count: a multiple of kFloatsAtOnce
};

Kernels WidestKernels() {
  if (__builtin_cpu_supports("avx512f")) return {16, MultiplyAddAvx512, ReadAvx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {8, MultiplyAddAvx2, ReadAvx2};
  }
  return {4, MultiplyAddSse, ReadSse};
}

// The compiler must believe that `value` is used and that memory changes.
void Keep(float value) { asm volatile("" : : "m"(value) : "memory"); }

}  // namespace

double FastestSeconds(int64_t num_threads, const std::function<std::function<void()>()>& prepare) {
  struct Times {
    double begin[kPasses], end[kPasses];
  };
  std::vector<Times> times(static_cast<size_t>(num_threads));
  std::barrier together(static_cast<ptrdiff_t>(num_threads));
  const auto work = [&](Times* mine) {
    const std::function<void()> pass = prepare();
    for (int i = 0; i < kPasses; ++i) {
      together.arrive_and_wait();
      mine->begin[i] = MonotonicSeconds();
      pass();
      mine->end[i] = MonotonicSeconds();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < times.size(); ++i) others.emplace_back(work, &times[i]);
    work(&times[0]);
  }
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPasses; ++i) {
    double begin = times[0].begin[i], end = times[0].end[i];
    for (const Times& other : times) {
      begin = std::min(begin, other.begin[i]);
      end = std::max(end, other.end[i]);
    }
    fastest = std::min(fastest, end - begin);
  }
  return fastest;
}

double MeasurePeakGflops(int64_t num_threads) {
  const Kernels kernels = WidestKernels();
  const double seconds =
      FastestSeconds(num_threads, [&] { return [&] { Keep(kernels.multiply_add()); }; });
  const int64_t flops = 2 * kernels.lanes * kAccumulators * kLoops * num_threads;
  return static_cast<double>(flops) / seconds * 1e-9;
}

double MeasurePeakBf16Gflops(int64_t num_threads) {
  if (!HasBf16Products()) return MeasurePeakGflops(num_threads);
  const double seconds =
      FastestSeconds(num_threads, [] { return [] { Keep(Bf16ProductsAvx512()); }; });
  const int64_t flops = 2 * 2 * 16 * kAccumulators * kLoops * num_threads;
  return static_cast<double>(flops) / seconds * 1e-9;
}

double MeasureReadGbs(int64_t num_bytes, int64_t num_threads) {
  const Kernels kernels = WidestKernels();
  const int64_t floats = num_bytes / int64_t{sizeof(float)} / num_threads;
  const int64_t count = std::max<int64_t>(1, floats / kFloatsAtOnce) * kFloatsAtOnce;
  const int64_t all_bytes = count * int64_t{sizeof(float)} * num_threads;
  const int64_t repeats = (kReadBytes + all_bytes - 1) / all_bytes;
  const double seconds = FastestSeconds(num_threads, [&] {
    return [&, part = std::vector<float>(static_cast<size_t>(count), 1.0f)] {
      for (int64_t i = 0; i < repeats; ++i) Keep(kernels.read(part.data(), count));
    };
  });
  return static_cast<double>(all_bytes * repeats) / seconds * 1e-9;
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

double LoadAverage() {
  double load[1];
  return getloadavg(load, 1) == 1 ? load[0] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lzero
