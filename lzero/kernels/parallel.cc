#include "lzero/kernels/parallel.h"

#include <algorithm>
#include <memory>

#include "lzero/base/check.h"
#include "lzero/base/machine.h"
#include "lzero/kernels/spin_team.h"

namespace lzero {
namespace {

// Parts of a loop take tens of microseconds. A thread that is waited for longer than the first has
// lost its core to other work; so many loops then do without it.
constexpr int64_t kLongWaitMicroseconds = 250;
constexpr int kLoopsAlone = 2000;

struct Team {
  int num_threads = 1;
  int loops_alone = 0;                // that the calling thread does by itself from now on
  bool is_busy = false;               // with a loop
  std::unique_ptr<SpinTeam> threads;  // for `made_for`, the most that were needed so far
  int made_for = 1;
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
  if (team.made_for < team.num_threads) {
    team.threads = std::make_unique<SpinTeam>(std::min(team.num_threads, MachineCores()));
    team.made_for = team.num_threads;
  }
  const int64_t size = (count + parts - 1) / parts;
  team.is_busy = true;
  const auto run_part = [&](int part) {
    const int64_t first = begin + part * size;
    if (first < end) body(first, std::min(end, first + size));
  };
  const int num_parts = static_cast<int>(parts);
  if (team.loops_alone > 0) {
    --team.loops_alone;
    for (int part = 0; part < num_parts; ++part) run_part(part);
  } else if (team.threads->Run(num_parts, run_part) > kLongWaitMicroseconds) {
    team.loops_alone = kLoopsAlone;
  }
  team.is_busy = false;
}

}  // namespace lzero
