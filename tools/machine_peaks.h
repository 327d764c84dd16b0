// What this machine can do, measured in the same run as a benchmark: fused multiply-adds in
// registers, and reading memory of a given size. One thread each.
#ifndef LZERO_TOOLS_MACHINE_PEAKS_H_
#define LZERO_TOOLS_MACHINE_PEAKS_H_

#include <cstdint>
#include <string>

namespace lzero {

// GFLOP/s of fp32 fused multiply-adds in registers, with the widest of AVX-512, AVX2 and SSE that
// the CPU has. Takes about 50 ms.
double MeasurePeakGflops();

// GB/s reading a buffer of `num_bytes` again and again. Takes about 50 ms.
double MeasureReadGbs(int64_t num_bytes);

// One-minute load average of the machine.
double LoadAverage();

// Short commit id of the sources that this program was built from, "-dirty" behind it when they
// differed from it; "unknown" for sources without git.
std::string SourceCommit();

}  // namespace lzero

#endif  // LZERO_TOOLS_MACHINE_PEAKS_H_
