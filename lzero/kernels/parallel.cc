#include "lzero/kernels/parallel.h"

#include <algorithm>
#include <memory>

#include "lzero/base/check.h"
#include "lzero/kernels/spin_team.h"

namespace lzero {
namespace {

struct Team {
  int num_threads = 1;
  bool is_busy = false;               // with a loop
  std::unique_ptr<SpinTeam> threads;  // of the most threads that were needed so far; null: none
};

Team& TeamOfThisThread() {
  thread_local Team team;
  return team;
}

}  // namespace

int KernelThreads() { return TeamOfThisThread().num_threads; }

void SetKernelThreads(int num_threads) {
  LZ_CHECK(num_threads >= 1, "got ", num_threads);
  TeamOfThisThread().num_threads = num_threads;
}

void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  Team& team = TeamOfThisThread();
  const int64_t count = end - begin;
  const int64_t most = (count + grain - 1) / grain;
  const int64_t parts = team.is_busy ? 1 : std::min<int64_t>(team.num_threads, most);
  if (parts == 1) return body(begin, end);
  if (team.threads == nullptr || team.threads->num_members() < team.num_threads) {
    team.threads = std::make_unique<SpinTeam>(team.num_threads);
  }
  const int64_t size = (count + parts - 1) / parts;
  team.is_busy = true;
  team.threads->Run([&](int member) {
    const int64_t first = begin + member * size;
    if (first < end) body(first, std::min(end, first + size));
  });
  team.is_busy = false;
}

}  // namespace lzero
