// What this machine can do, measured in the same run as a benchmark: fused multiply-adds in
// registers, and reading memory of a given size; and how busy it is. The functions block; one
// caller at a time, or they measure each other.
#ifndef LZERO_TOOLS_BENCH_TABLE_MACHINE_PEAKS_H_
#define LZERO_TOOLS_BENCH_TABLE_MACHINE_PEAKS_H_

#include <cstdint>
#include <functional>
#include <string>

namespace lzero {

// GFLOP/s of fp32 multiply-adds in registers, of `num_threads` threads together, with the
// instructions that kernels use (CurrentInstructionSet). Takes about 10 ms, without vectors 100.
double MeasurePeakGflops(int64_t num_threads);

// The same of products of bf16 pairs summed in fp32; where kernels have no instruction for
// them, that of fp32.
double MeasurePeakBf16Gflops(int64_t num_threads);

// GB/s at which `num_threads` threads together read `num_bytes` again and again, each thread its
// own equal part. Takes about 10 ms from a cache and 40 ms from memory.
double MeasureReadGbs(int64_t num_bytes, int64_t num_threads);

// Each of `num_threads` threads calls `prepare` once, then the function it returned several times;
// they begin each time together. Seconds of the fastest time, first begin to last end.
double FastestSeconds(int64_t num_threads, const std::function<std::function<void()>()>& prepare);

// The processor's name as the system knows it; "unknown" where it does not say.
std::string CpuName();

// One-minute load average of the machine; NaN, which JSON shows as null, where it is not known.
double LoadAverage();

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_MACHINE_PEAKS_H_
