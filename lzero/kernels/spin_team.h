// A fixed team of threads for work that takes microseconds: members wait by spinning for a moment
// and then asleep, so that a wait costs little while calls follow each other, and nothing later.
// Who comes first takes the next part of a call: where the machine is busy, the caller does the
// parts of members that do not get a core. Not a pool for tasks (thread_pool.h): parts may meet at
// a barrier. Run() is called from one thread at a time.
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
  static constexpr int kMostParts = 1024;

  // `num_members` of 1 .. kMostParts includes the calling thread: 1 makes no thread at all.
  explicit SpinTeam(int num_members);
  ~SpinTeam();
  SpinTeam(const SpinTeam&) = delete;
  SpinTeam& operator=(const SpinTeam&) = delete;

  int num_members() const { return num_members_; }

  // Calls body(part) once for each part 0 .. num_parts - 1 (1 .. kMostParts of them), part 0 on
  // this thread and the others on any thread of the team; returns when all have returned. The body
  // must not throw. Allocates nothing. Returns about the microseconds that this call saved:
  // the time of the parts that others took, at this thread's pace, less twice what it waited for
  // them, for where little is saved the core is better left to others.
  int64_t Run(int num_parts, absl::FunctionRef<void(int)> body);

  // Inside a body, called by every one of as many parts as there are members: none goes on before
  // all have come. Each part has a thread of its own then.
  void Barrier();

 private:
  void Work();
  // Does parts of the newest call until none is left, and counts them; returns the word of claims_
  // that it saw last.
  uint32_t TakeParts(int* num_taken);

  const int num_members_;
  std::vector<std::thread> threads_;
  const absl::FunctionRef<void(int)>* body_ = nullptr;  // of the call in progress
  std::atomic<bool> stop_{false};
  // On cache lines of their own: they are what the members watch.
  // The number of the call, its number of parts, and the next part to take: a part is taken by
  // adding one, which succeeds only while the call lasts.
  alignas(64) std::atomic<uint32_t> claims_{0};
  alignas(64) std::atomic<int> num_unfinished_{0};  // parts of the call
  alignas(64) std::atomic<int> num_arrived_{0};     // at the barrier
  alignas(64) std::atomic<uint32_t> barriers_{0};   // counts the barriers passed
};

}  // namespace lzero

#endif  // LZERO_KERNELS_SPIN_TEAM_H_
