// What the null GPU counted, for tests that a real device runs as well.
#ifndef LZERO_TESTS_NULL_GPU_COUNT_H_
#define LZERO_TESTS_NULL_GPU_COUNT_H_

#include <dlfcn.h>

#include <cstdint>

namespace lzero::null_gpu {

// Whether the null GPU is under this program.
inline bool IsUnder() { return dlsym(RTLD_DEFAULT, "lz_null_gpu_count") != nullptr; }

// The count `what` (lz_null_gpu_count, report.h); 0 where the null GPU is not under the program.
inline int64_t CountOf(const char* what) {
  using Function = int64_t (*)(const char*);
  const auto count = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "lz_null_gpu_count"));
  return count != nullptr ? count(what) : 0;
}

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_COUNT_H_
