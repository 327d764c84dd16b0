#include "tools/bench_step.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/inference/runners.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/world_model/world_model.h"
#include "tools/bench_step_report.h"
#include "tools/interrupt.h"
#include "tools/machine_peaks.h"
#include "tools/source_commit.h"
#include "tools/verb_support.h"

namespace lzero {
namespace {

// Of one case in one round.
constexpr double kMeasuredSeconds = 0.02;
constexpr int64_t kMinSteps = 3;

// A case with its model and what was measured so far.
struct Subject {
  BenchStepResult result;
  std::shared_ptr<WorldModel> weights;
  std::unique_ptr<RecurrentStep> step;
};

// With full contexts of random tokens.
absl::StatusOr<Subject> MakeSubject(const BenchStepCase& step) {
  Subject subject;
  subject.result.step = step;
  LZ_ASSIGN_OR_RETURN(subject.weights,
                      WorldModel::Create(BenchStepModel(step), {{4}, step.actions}, /*seed=*/0));
  subject.weights->eval();
  LZ_ASSIGN_OR_RETURN(subject.step,
                      MakeRecurrentStep(BenchStepInference(step), *subject.weights, step.batch));
  subject.step->buffers().contexts.tokens.normal_();
  subject.step->buffers().contexts.lengths.fill_(step.context - 1);
  return subject;
}

// Seconds of one step: the mean of one round, whose first step is not counted.
absl::StatusOr<double> TimeStep(Subject& subject) {
  const int64_t batch = subject.result.step.batch;
  at::set_num_threads(static_cast<int>(subject.result.step.threads));
  LZ_RETURN_IF_ERROR(subject.step->Run(batch));
  const double start = MonotonicSeconds();
  double elapsed = 0.0;
  int64_t steps = 0;
  for (; steps < kMinSteps || elapsed < kMeasuredSeconds; ++steps) {
    LZ_RETURN_IF_ERROR(subject.step->Run(batch));
    elapsed = MonotonicSeconds() - start;
  }
  return elapsed / static_cast<double>(steps);
}

// The machine's peaks of this round: each is measured once, and a case keeps the best it has seen.
void MeasurePeaks(std::vector<Subject>& subjects) {
  std::map<std::pair<int64_t, std::string>, double> gflops;  // [threads, dtype]
  std::map<std::pair<int64_t, int64_t>, double> gbs;         // [threads, bytes]
  for (Subject& subject : subjects) {
    BenchStepResult& result = subject.result;
    const int64_t threads = result.step.threads, bytes = StepWeightBytes(result.step);
    const auto [flops, first_flops] = gflops.try_emplace({threads, result.step.dtype}, 0.0);
    if (first_flops) {
      flops->second =
          result.step.dtype == "bf16" ? MeasurePeakBf16Gflops(threads) : MeasurePeakGflops(threads);
    }
    const auto [reads, first_reads] = gbs.try_emplace({threads, bytes}, 0.0);
    if (first_reads) reads->second = MeasureReadGbs(bytes, threads);
    result.peak_gflops = std::max(result.peak_gflops, flops->second);
    result.peak_gbs = std::max(result.peak_gbs, reads->second);
  }
}

absl::StatusOr<std::vector<Subject>> Measure(const std::vector<BenchStepCase>& cases,
                                             int64_t rounds) {
  std::vector<Subject> subjects;
  for (const BenchStepCase& step : cases) {
    LZ_ASSIGN_OR_RETURN(Subject subject, MakeSubject(step));
    subjects.push_back(std::move(subject));
  }
  for (Subject& subject : subjects) LZ_RETURN_IF_ERROR(TimeStep(subject).status());  // warm-up
  for (int64_t round = 0; round < rounds; ++round) {
    MeasurePeaks(subjects);
    for (Subject& subject : subjects) {
      LZ_ASSIGN_OR_RETURN(const double seconds, TimeStep(subject));
      subject.result.seconds.push_back(seconds);
    }
  }
  return subjects;
}

}  // namespace

int BenchStep(const BenchStepOptions& options) {
  const auto cases = BenchStepCases(options);
  if (!cases.ok()) return PrintError(cases.status(), kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against);
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  BenchConditions conditions;
  conditions.cpu = CpuName();
  conditions.commit = SourceCommit();
  conditions.load_before = LoadAverage();
  const auto subjects = CatchTorch([&] { return Measure(*cases, options.rounds); });
  if (!subjects.ok()) return PrintError(subjects.status(), kExitFailure);
  conditions.load_after = LoadAverage();
  std::vector<BenchStepResult> results;
  for (const Subject& subject : *subjects) results.push_back(subject.result);
  std::vector<std::string> objects;
  for (const BenchStepResult& result : results)
    objects.push_back(BenchStepJson(result, conditions));
  PrintBench(objects, BenchStepTable(results), *baseline, options.output);
  return kExitOk;
}

}  // namespace lzero
