#include "tools/bench/table/machine_peaks.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "lzero/base/stopwatch.h"
#include "lzero/kernels/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench/table/machine_peaks.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

int64_t Lanes() { return kLanes; }

// 12 sums hide the latency of a multiply-add.
float MultiplyAdds(int64_t num_loops) {
  volatile float factor = 0.999f, term = 0.001f;  // known numbers would be folded away
  const Floats a = Set(factor), b = Set(term);
  Floats sums[12];
  for (int j = 0; j < 12; ++j) sums[j] = Set(static_cast<float>(j));
  for (int64_t i = 0; i < num_loops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) sums[j] = hn::MulAdd(sums[j], a, b);
  }
  for (int j = 1; j < 12; ++j) sums[0] = hn::Add(sums[0], sums[j]);
  return Sum(sums[0]);
}

// `count` is a multiple of 8 vectors.
float SumOfAll(const float* values, int64_t count) {
  Floats sums[8];
  for (int j = 0; j < 8; ++j) sums[j] = Zero();
  for (int64_t i = 0; i < count; i += 8 * kLanes) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) sums[j] = hn::Add(sums[j], Load(values + i + j * kLanes));
  }
  for (int j = 1; j < 8; ++j) sums[0] = hn::Add(sums[0], sums[j]);
  return Sum(sums[0]);
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

constexpr int kPasses = 5;  // of which the fastest counts
constexpr int64_t kLoops = 1000000;
constexpr int64_t kReadBytes = int64_t{256} << 20;  // of one pass, at least
constexpr int64_t kFloatsAtOnce = 128;              // read by one step of the loop, on any CPU

#if defined(__GNUC__) && !defined(__clang__)
// A lane sums two products an instruction, which Highway 1.0 does not know.
__attribute__((target("avx512f,avx512bf16"))) float Bf16Products(int64_t num_loops) {
  typedef short Halves __attribute__((vector_size(64)));
  typedef float Sums __attribute__((vector_size(64)));
  volatile short one = 0x3f80;
  const Halves a = Halves{} + one;
  Sums sums[12] = {};
  for (int64_t i = 0; i < num_loops; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < 12; ++j) sums[j] = __builtin_ia32_dpbf16ps_v16sf(sums[j], a, a);
  }
  for (int j = 1; j < 12; ++j) sums[0] += sums[j];
  return sums[0][0];
}
#else
float Bf16Products(int64_t /*num_loops*/) { return 0.0f; }
#endif

// The compiler must believe that `value` is used and that memory changes.
void Keep(float value) { asm volatile("" : : "m"(value) : "memory"); }

// The speed of a loop of 12 instructions that do `flops` operations each.
double PeakGflops(float (*loop)(int64_t), int64_t flops, int64_t num_threads) {
  const double seconds = FastestSeconds(num_threads, [=] { return [=] { Keep(loop(kLoops)); }; });
  return static_cast<double>(flops * 12 * kLoops * num_threads) / seconds * 1e-9;
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
  return PeakGflops(LZ_KERNEL(MultiplyAdds), 2 * LZ_KERNEL(Lanes)(), num_threads);
}

double MeasurePeakBf16Gflops(int64_t num_threads) {
  return CurrentInstructionSet() == InstructionSet::kAvx512Bf16
             ? PeakGflops(Bf16Products, 2 * 2 * 16, num_threads)
             : MeasurePeakGflops(num_threads);
}

double MeasureReadGbs(int64_t num_bytes, int64_t num_threads) {
  const int64_t floats = num_bytes / int64_t{sizeof(float)} / num_threads;
  const int64_t count = std::max<int64_t>(1, floats / kFloatsAtOnce) * kFloatsAtOnce;
  const int64_t all_bytes = count * int64_t{sizeof(float)} * num_threads;
  const int64_t repeats = (kReadBytes + all_bytes - 1) / all_bytes;
  const double seconds = FastestSeconds(num_threads, [&] {
    return [&, part = std::vector<float>(static_cast<size_t>(count), 1.0f)] {
      for (int64_t i = 0; i < repeats; ++i) Keep(LZ_KERNEL(SumOfAll)(part.data(), count));
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
#endif
