#include "lzero/kernels/parallel.h"

#include <algorithm>
#include <memory>

#include "lzero/base/check.h"
#include "lzero/base/machine.h"
#include "lzero/kernels/spin_team.h"

namespace lzero {
namespace {

// A team whose loops gain nothing has lost a core to other work. What it gained, in microseconds,
// is counted from the first number and up to the second; below zero the next loops do without it:
// more each time, fewer again with every loop that it runs.
constexpr int64_t kGainAtFirst = 1000;
constexpr int64_t kMostGain = 2000;
constexpr int kFewestLoopsAlone = 50;
constexpr int kMostLoopsAlone = 3200;

struct Team {
  int num_threads = 1;
  int64_t gain = kGainAtFirst;
  int loops_alone = 0;  // that the calling thread does by itself from now on
  int next_loops_alone = kFewestLoopsAlone;
  bool is_busy = false;               // with a loop
  std::unique_ptr<SpinTeam> threads;  // for `made_for`, the most that were needed so far
  int made_for = 1;
};

Team& TeamOfThisThread() {
  thread_local Team team;
  return team;
}

thread_local std::atomic<int>* sharers_of_cores = nullptr;

}  // namespace

int KernelThreads() { return TeamOfThisThread().num_threads; }

void SetKernelThreads(int num_threads) {
  LZ_CHECK(num_threads >= 1, "got ", num_threads);
  TeamOfThisThread().num_threads = num_threads;
}

SharesCores::SharesCores(std::atomic<int>* num_working) : before_(sharers_of_cores) {
  sharers_of_cores = num_working;
  if (num_working != nullptr) num_working->fetch_add(1, std::memory_order_relaxed);
}

SharesCores::~SharesCores() {
  if (sharers_of_cores != nullptr) sharers_of_cores->fetch_sub(1, std::memory_order_relaxed);
  sharers_of_cores = before_;
}

bool HasSpareCores() {
  return sharers_of_cores == nullptr || sharers_of_cores->load(std::memory_order_relaxed) <= 1;
}

void RunOnSpareCores(SpinTeam* team, int num_parts, absl::FunctionRef<void(int)> body) {
  if (HasSpareCores()) return void(team->Run(num_parts, body));
  for (int part = 0; part < num_parts; ++part) body(part);
}

void ParallelFor(int64_t begin, int64_t end, int64_t grain,
                 absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  Team& team = TeamOfThisThread();
  const int64_t count = end - begin;
  const int64_t most = (count + grain - 1) / grain;
  const int64_t parts =
      team.is_busy || !HasSpareCores() ? 1 : std::min<int64_t>(team.num_threads, most);
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
  } else {
    team.gain = std::min(team.gain + team.threads->Run(num_parts, run_part), kMostGain);
    team.next_loops_alone = std::max(team.next_loops_alone - 1, kFewestLoopsAlone);
    if (team.gain < 0) {
      team.gain = kGainAtFirst;
      team.loops_alone = team.next_loops_alone;
      team.next_loops_alone = std::min(2 * team.next_loops_alone, kMostLoopsAlone);
    }
  }
  team.is_busy = false;
}

}  // namespace lzero
