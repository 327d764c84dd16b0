// A fixed team of threads for work that takes microseconds: members wait by spinning for a while
// before they sleep, so that a call costs well under a microsecond while calls follow each other.
// Not a pool for tasks (thread_pool.h): every member runs the same body, and may meet the others at
// a barrier inside it. Run() is called from one thread at a time.
#ifndef LZERO_KERNELS_SPIN_TEAM_H_
#define LZERO_KERNELS_SPIN_TEAM_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace lzero {

class SpinTeam {
 public:
  // `num_members` >= 1 includes the calling thread: 1 makes no thread at all.
  explicit SpinTeam(int num_members);
  ~SpinTeam();
  SpinTeam(const SpinTeam&) = delete;
  SpinTeam& operator=(const SpinTeam&) = delete;

  int num_members() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(member) for every member 0 .. num_members - 1 at once, member 0 on this thread;
  // returns when all have returned. The body must not throw. Allocates nothing.
  void Run(absl::FunctionRef<void(int)> body);

  // Inside a body, called by every member: none goes on before all have come.
  void Barrier();

 private:
  void Work(int member);

  std::vector<std::thread> threads_;
  const absl::FunctionRef<void(int)>* body_ = nullptr;  // of the call in progress
  bool stop_ = false;                                   // written before a new call_
  // On cache lines of their own: they are what the members watch.
  alignas(64) std::atomic<uint32_t> call_{0};      // counts the calls of Run
  alignas(64) std::atomic<int> num_working_{0};    // members besides 0 still in the body
  alignas(64) std::atomic<int> num_arrived_{0};    // at the barrier
  alignas(64) std::atomic<uint32_t> barriers_{0};  // counts the barriers passed
};

}  // namespace lzero

#endif  // LZERO_KERNELS_SPIN_TEAM_H_
