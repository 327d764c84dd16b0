// Trains the runs of a sweep, several at a time, each by a child process: those that are finished
// are left alone, those that were begun go on, the others start. Says on stderr how it goes. One
// thread; Run blocks until all have ended.
#ifndef LZERO_TOOLS_VERBS_SWEEP_SWEEP_RUNNER_H_
#define LZERO_TOOLS_VERBS_SWEEP_SWEEP_RUNNER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/run/training_state.h"
#include "tools/verbs/sweep/run_process.h"

namespace lzero {

// How a run stands. A failed one ended with an error in this session; what it had learned before
// is no result.
enum class RunStanding { kMissing, kBegun, kFinished, kFailed };

struct SweepRun {
  std::string cell;  // name of the combination
  int64_t seed = 0;
  std::string name;                    // "CELL/seed_3", its folder inside of the sweep's
  std::vector<std::string> overrides;  // "key=value", those of the cell
  std::string folder;
  std::string log_path;
};

// How the run in `folder` stands, from what is on the disk: kMissing, kBegun or kFinished.
RunStanding StandingOf(const std::string& folder);

// The counters of a finished run. Errors as ReadCheckpoint.
absl::StatusOr<TrainingState> ReadResult(const SweepRun& run);

// Seconds to the end of a sweep: `remaining` of each run at work, `mean` of a whole one for each of
// `num_waiting`, shared by `num_jobs`.
double SweepSecondsLeft(const std::vector<double>& remaining, double mean, size_t num_waiting,
                        size_t num_jobs);

struct SweepPlan {
  std::string program;      // what is started
  std::string typed;        // what it is called: the first word of the command line
  std::string config_path;  // of all runs
  std::vector<SweepRun> runs;
  int64_t num_jobs = 1;
};

struct SweepOutcome {
  std::vector<RunStanding> standings;  // of each run
  bool is_interrupted = false;
  int worst_code = 0;  // the largest exit code of a failed run
};

class SweepRunner {
 public:
  // `stop`: ends the sweep; the runs at work write their checkpoints first.
  SweepRunner(SweepPlan plan, const std::atomic<bool>* stop);

  SweepOutcome Run();

 private:
  struct Job {
    size_t run;  // index
    RunProcess process;
    double start;  // monotonic seconds
  };

  // Starts what may be started.
  void StartRuns();
  // Whether another process still writes into the folder of `run`; says so once.
  bool IsInUse(const SweepRun& run);
  void Start(size_t index);
  // Looks which runs have ended.
  void Reap();
  void End(const Job& job, int code);
  void Fail(size_t index, int code, const std::string& why);
  void ShowProgress() const;
  size_t Count(RunStanding standing) const;
  // Nullopt before anything is known.
  std::optional<double> SecondsLeft() const;

  const SweepPlan plan_;
  const std::atomic<bool>* const stop_;
  SweepOutcome outcome_;
  std::vector<Job> jobs_;
  std::vector<double> seconds_;  // of the runs that ended in this session
  size_t next_ = 0;              // the run that starts next
  bool has_said_in_use_ = false;
};

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_SWEEP_RUNNER_H_
