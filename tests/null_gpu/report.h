// What the null GPU saw: violations, which make the process fail at its end, and counts.
#ifndef LZERO_TESTS_NULL_GPU_REPORT_H_
#define LZERO_TESTS_NULL_GPU_REPORT_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace lzero::null_gpu {

// Every function of this folder that reads or writes state holds this lock. What runs under it must
// not call libtorch's allocators: they call cudaMalloc under locks of their own.
class Lock {
 public:
  Lock() : held_(Mutex()) {}

 private:
  static std::recursive_mutex& Mutex();
  std::lock_guard<std::recursive_mutex> held_;
};

// A rule was broken: told at once, listed at exit, which then is with kViolationExit.
inline constexpr int kViolationExit = 66;
void Violation(const std::string& what);

// Adds `amount` to a number that is printed at exit and read by lz_null_gpu_count.
void Count(const std::string& what, int64_t amount = 1);

// Remembers `error` for cudaGetLastError of this thread, and returns it.
cudaError_t Fail(cudaError_t error);

}  // namespace lzero::null_gpu

// The count `what`, 0 where nothing was counted: "device_bytes", "pinned_bytes", "graphs",
// "streams" of now, "device_bytes_N" of device N; "peak_device_bytes_N"; "kernels" launched one by
// one, "graph_launches", "graph_kernels" and "graph_copies" (and fills) in these, "copies",
// "copied_bytes", "waits", "work_of_default_stream", "contexts", "contexts_N", "violations" since
// the start.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C
extern "C" int64_t lz_null_gpu_count(const char* what);

// A function of NVIDIA's that nothing here does is called: what make_names.py writes calls it.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C
extern "C" void lz_null_gpu_missing(const char* name);

#endif  // LZERO_TESTS_NULL_GPU_REPORT_H_
