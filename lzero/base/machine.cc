#include "lzero/base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_format.h"

namespace lzero {

int MachineCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // a set too large
}

std::string SizeText(int64_t bytes) {
  constexpr int64_t kMebibyte = 1 << 20;
  if (bytes < kMebibyte) return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / 1024.0);
  if (bytes < 1024 * kMebibyte) return absl::StrFormat("%.1f MiB", Mebibytes(bytes));
  const double gibibytes = Mebibytes(bytes) / 1024.0;
  return absl::StrFormat("%.*f GiB", gibibytes < 10.0 ? 2 : 1, gibibytes);
}

int64_t MachineMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

int64_t ResidentBytes() { return ResidentBytesOf(getpid()); }

int64_t ResidentBytesOf(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace lzero
