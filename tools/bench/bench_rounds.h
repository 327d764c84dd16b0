// The loop that benchmarks of the model share: every case is made and warmed up, then all are timed
// one after another in interleaved rounds, each round beside the machine's peaks, and what was
// measured is printed. A subject is a case with what it times and its result so far.
#ifndef LZERO_TOOLS_BENCH_BENCH_ROUNDS_H_
#define LZERO_TOOLS_BENCH_BENCH_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch_status.h"
#include "tools/bench/table/bench_figures.h"
#include "tools/bench/table/bench_output.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {

// Subject::result is a Result.
template <typename Case, typename Subject, typename Result>
struct BenchSteps {
  std::string verb;  // after "bench"
  std::function<absl::StatusOr<Subject>(const Case&)> make;
  std::function<absl::Status(Subject&)> warm_up;
  std::function<absl::Status(std::vector<Subject>&)> measure_peaks;  // once a round; may be empty
  std::function<absl::Status(Subject&)> time_round;                  // adds to the result
  std::function<std::string(const Result&, const BenchConditions&)> json;
  std::function<std::string(const std::vector<Result>&)> table;
};

template <typename Case, typename Subject, typename Result>
absl::StatusOr<std::vector<Result>> MeasureRounds(const BenchSteps<Case, Subject, Result>& steps,
                                                  const std::vector<Case>& cases, int64_t rounds) {
  BenchProgress progress;
  std::vector<Subject> subjects;
  for (const Case& each : cases) {
    LZ_ASSIGN_OR_RETURN(Subject subject, steps.make(each));
    subjects.push_back(std::move(subject));
    progress.Show(absl::StrCat("made ", subjects.size(), "/", cases.size(), " cases"));
  }
  for (Subject& subject : subjects) LZ_RETURN_IF_ERROR(steps.warm_up(subject));
  for (int64_t round = 0; round < rounds; ++round) {
    if (steps.measure_peaks) LZ_RETURN_IF_ERROR(steps.measure_peaks(subjects));
    for (size_t i = 0; i < subjects.size(); ++i) {
      LZ_RETURN_IF_ERROR(steps.time_round(subjects[i]));
      progress.Show(
          absl::StrCat("round ", round + 1, "/", rounds, ", case ", i + 1, "/", subjects.size()));
    }
  }
  std::vector<Result> results;
  for (Subject& subject : subjects) results.push_back(std::move(subject.result));
  return results;
}

// The verb: 0; 2 with a message for a saved run that is none; 1 when a case fails, as for want of
// memory. `gpu` names the device when it is not the CPU.
template <typename Case, typename Subject, typename Result>
int RunBench(const BenchSteps<Case, Subject, Result>& steps, const std::vector<Case>& cases,
             int64_t rounds, const std::string& gpu, const BenchOutputOptions& output) {
  const auto baseline = BenchBaseline::Load(output.against, steps.verb);
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  BenchConditions conditions = BeginConditions(gpu);
  const auto results = CatchTorch([&] { return MeasureRounds(steps, cases, rounds); });
  if (!results.ok()) return PrintError(results.status(), kExitFailure);
  conditions.load_after = LoadAverage();
  std::vector<std::string> objects;
  for (const Result& result : *results) objects.push_back(steps.json(result, conditions));
  PrintBench(objects, steps.table(*results), *baseline, output);
  return kExitOk;
}

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_ROUNDS_H_
