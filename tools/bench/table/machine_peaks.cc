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

constexpr int kPasses = 5;  // of which the fastest counts
constexpr int kSums = 12;   // enough to hide the latency of a fused multiply-add
constexpr int64_t kLoops = 1000000;
constexpr int64_t kReadBytes = int64_t{256} << 20;  // of one pass, at least
constexpr int64_t kFloatsAtOnce = 128;              // read by one step of the loop, on any CPU

// Vector registers.
typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));

// The generic loops are compiled once for each instruction set, inside the functions below.
template <typename Floats>
[[gnu::always_inline]] inline float MultiplyAddLoop() {
  volatile float factor = 0.999f, term = 0.001f;  // known numbers would be folded away
  const Floats a = Floats{} + factor, b = Floats{} + term;
  Floats sums[kSums];
  for (int j = 0; j < kSums; ++j) sums[j] = Floats{} + static_cast<float>(j);
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kSums; ++j) sums[j] = sums[j] * a + b;
  }
  for (int j = 1; j < kSums; ++j) sums[0] += sums[j];
  return sums[0][0];
}

template <typename Floats>
[[gnu::always_inline]] inline float ReadLoop(const float* values, int64_t count) {
  constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);
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

__attribute__((target("avx512f"))) float MultiplyAddAvx512() { return MultiplyAddLoop<Floats16>(); }
__attribute__((target("avx2,fma"))) float MultiplyAddAvx2() { return MultiplyAddLoop<Floats8>(); }
float MultiplyAddSse() { return MultiplyAddLoop<Floats4>(); }

__attribute__((target("avx512f"))) float ReadAvx512(const float* values, int64_t count) {
  return ReadLoop<Floats16>(values, count);
}
__attribute__((target("avx2,fma"))) float ReadAvx2(const float* values, int64_t count) {
  return ReadLoop<Floats8>(values, count);
}
float ReadSse(const float* values, int64_t count) { return ReadLoop<Floats4>(values, count); }

#if defined(__GNUC__) && !defined(__clang__)
// A lane sums two products an instruction.
__attribute__((target("avx512f,avx512bf16"))) float Bf16ProductsAvx512() {
  typedef short Halves __attribute__((vector_size(64)));
  volatile short one = 0x3f80;
  const Halves a = Halves{} + one;
  Floats16 sums[kSums] = {};
  for (int64_t i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < kSums; ++j) {
      sums[j] = __builtin_ia32_dpbf16ps_v16sf(sums[j], a, a);
    }
  }
  for (int j = 1; j < kSums; ++j) sums[0] += sums[j];
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

// The speed of a loop that does `flops` operations in each instruction.
double PeakGflops(float (*loop)(), int64_t flops, int64_t num_threads) {
  const double seconds = FastestSeconds(num_threads, [=] { return [=] { Keep(loop()); }; });
  return static_cast<double>(flops * kSums * kLoops * num_threads) / seconds * 1e-9;
}

}  // namespace

double FastestSeconds(int64_t num_threads, const std::function<std::function<void()>()>& prepare) {
  // Whoever comes last to the end of a pass tells its time, before any begins the next.
  double fastest = std::numeric_limits<double>::infinity(), begin = -fastest;
  const auto end_pass = [&]() noexcept {
    const double now = MonotonicSeconds();
    fastest = std::min(fastest, now - begin);
    begin = now;
  };
  std::barrier together(static_cast<ptrdiff_t>(num_threads), end_pass);
  const auto work = [&] {
    const std::function<void()> pass = prepare();
    together.arrive_and_wait();
    for (int i = 0; i < kPasses; ++i) {
      pass();
      together.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (int64_t i = 1; i < num_threads; ++i) others.emplace_back(work);
  work();
  others.clear();  // joins
  return fastest;
}

double MeasurePeakGflops(int64_t num_threads) {
  const Kernels kernels = WidestKernels();
  return PeakGflops(kernels.multiply_add, 2 * kernels.lanes, num_threads);
}

double MeasurePeakBf16Gflops(int64_t num_threads) {
  return HasBf16Products() ? PeakGflops(Bf16ProductsAvx512, 2 * 2 * 16, num_threads)
                           : MeasurePeakGflops(num_threads);
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
