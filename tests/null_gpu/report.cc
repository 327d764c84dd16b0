#include "tests/null_gpu/report.h"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <vector>

#include "tests/null_gpu/settings.h"

namespace lzero::null_gpu {
namespace {

constexpr size_t kMaxTold = 20;
thread_local cudaError_t last_error = cudaSuccess;

std::map<std::string, int64_t>& Counts() {
  static auto& counts = *new std::map<std::string, int64_t>;
  return counts;
}

std::vector<std::string>& Told() {
  static auto& told = *new std::vector<std::string>;
  return told;
}

// At the very end of the process, after the static objects of all other libraries.
__attribute__((destructor)) void Report() {
  const Lock lock;
  if (GetSettings().nothing_left) {
    for (const char* what : {"device_bytes", "pinned_bytes", "graphs", "streams"}) {
      const int64_t left = Counts()[what];
      if (left != 0) Violation("left at exit: " + std::to_string(left) + " " + what);
    }
  }
  if (GetSettings().print_counts) {
    for (const auto& [what, count] : Counts()) {
      std::fprintf(stderr, "null GPU: %s %lld\n", what.c_str(), static_cast<long long>(count));
    }
  }
  const int64_t violations = Counts()["violations"];
  if (violations == 0) return;
  std::fprintf(stderr, "null GPU: %lld violations\n", static_cast<long long>(violations));
  for (const std::string& what : Told()) std::fprintf(stderr, "  %s\n", what.c_str());
  std::fflush(nullptr);
  _exit(kViolationExit);
}

}  // namespace

std::recursive_mutex& Lock::Mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

void Violation(const std::string& what) {
  const Lock lock;
  Count("violations");
  for (const std::string& told : Told()) {
    if (told == what) return;
  }
  if (Told().size() >= kMaxTold) return;
  Told().push_back(what);
  std::fprintf(stderr, "null GPU: VIOLATION: %s\n", what.c_str());
}

void Count(const std::string& what, int64_t amount) {
  const Lock lock;
  Counts()[what] += amount;
}

cudaError_t Fail(cudaError_t error) {
  last_error = error;
  return error;
}

}  // namespace lzero::null_gpu

extern "C" {

int64_t lz_null_gpu_count(const char* what) {
  const lzero::null_gpu::Lock lock;
  return lzero::null_gpu::Counts()[what];
}

void lz_null_gpu_missing(const char* name) {
  lzero::null_gpu::Violation(std::string(name) + " is called, which nothing here does");
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = lzero::null_gpu::last_error;
  lzero::null_gpu::last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return lzero::null_gpu::last_error; }

}  // extern "C"
