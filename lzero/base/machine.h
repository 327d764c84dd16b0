// Facts about this machine that plans depend on. No measuring (see
// tools/bench/table/machine_peaks.h).
#ifndef LZERO_BASE_MACHINE_H_
#define LZERO_BASE_MACHINE_H_

#include <cstdint>
#include <string>

namespace lzero {

// Cores that this process may run on, at least 1.
int MachineCores();
// Bytes of physical memory, used or not.
int64_t MachineMemoryBytes();
// Bytes of it that this process holds now; 0 where /proc does not tell.
int64_t ResidentBytes();
// The same of process `pid`; 0 when there is none, too.
int64_t ResidentBytesOf(int64_t pid);

// "21.9 KiB", "184.4 MiB", "1.56 GiB", "23.5 GiB".
std::string SizeText(int64_t bytes);
inline double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace lzero

#endif  // LZERO_BASE_MACHINE_H_
