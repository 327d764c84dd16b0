// The threads of the kernels: a parallel loop over a team of at most as many threads as there are
// cores (spin_team.h). Each thread that calls kernels has a team of its own, made at the first loop
// that can use it. Not for tasks that block.
#ifndef LZERO_KERNELS_PARALLEL_H_
#define LZERO_KERNELS_PARALLEL_H_

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace lzero {

class SpinTeam;

// Parts into which the loops of the calling thread are divided at most, and threads that share
// them, itself included; 1 at first.
int KernelThreads();
void SetKernelThreads(int num_threads);

// Calls body(first, last) for parts that cover begin .. end - 1 once: as many parts as there are
// threads, but no more than there are `grain` (>= 1) indices each; all but the last of one size.
// The calling thread has the first part. Blocks. The body must not throw, and loops inside it run
// on its thread alone.
void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> body);

// While it lives, its thread is one of `num_working`, threads that share the cores of the machine:
// while others work its loops stay on it. Null: it has cores of its own.
class SharesCores {
 public:
  explicit SharesCores(std::atomic<int>* num_working);
  ~SharesCores();
  SharesCores(const SharesCores&) = delete;
  SharesCores& operator=(const SharesCores&) = delete;

 private:
  std::atomic<int>* before_;
};

// Whether the calling thread may use others now.
bool HasSpareCores();

// Calls body(part) for parts 0 to num_parts - 1: on the team, or all on this thread.
void RunOnSpareCores(SpinTeam* team, int num_parts, absl::FunctionRef<void(int)> body);

}  // namespace lzero

#endif  // LZERO_KERNELS_PARALLEL_H_
