#include "tools/bench/bench_step.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_rounds.h"
#include "tools/bench/table/bench_step_report.h"

namespace lzero {
namespace {

// Of one case in one round.
constexpr double kMeasuredSeconds = 0.02;
constexpr int64_t kMinSteps = 3;

// A case with its model and what was measured so far.
struct Subject {
  BenchStepResult result;
  std::unique_ptr<GraphBackend> backend;  // one unload unit a step; none on the CPU
  std::shared_ptr<WorldModel> weights;
  std::unique_ptr<RecurrentStep> step;
};

// With full contexts of random tokens.
absl::StatusOr<Subject> MakeSubject(const BenchDevice& device, const BenchStepCase& step) {
  Subject subject;
  subject.result.step = step;
  LZ_ASSIGN_OR_RETURN(subject.backend, device.MakeBackend());
  LZ_ASSIGN_OR_RETURN(subject.weights, WorldModel::Create(BenchStepModel(step), {{4}, step.actions},
                                                          /*seed=*/0, device.device()));
  subject.weights->eval();
  LZ_ASSIGN_OR_RETURN(subject.step, MakeRecurrentStep(BenchStepInference(step), *subject.weights,
                                                      step.batch, subject.backend.get()));
  subject.step->buffers().contexts.tokens.normal_();
  subject.step->buffers().contexts.lengths.fill_(step.context - 1);
  LZ_RETURN_IF_ERROR(device.Wait());  // the step runs on a stream of its own
  return subject;
}

// Seconds of one step: the mean of one round, whose first step is not counted.
absl::StatusOr<double> TimeOneStep(const BenchDevice& device, Subject& subject) {
  const auto run = [&] { return subject.step->Run(subject.result.step.batch); };
  const auto time = [&]() -> absl::StatusOr<double> {
    LZ_RETURN_IF_ERROR(run());
    return TimeRuns(device, kMinSteps, kMeasuredSeconds, run);
  };
  SetTensorThreads(static_cast<int>(subject.result.step.threads));
  if (device.is_cpu()) return time();
  absl::StatusOr<double> seconds = 0.0;
  LZ_RETURN_IF_ERROR(subject.backend->OnStream([&] { seconds = time(); }));
  return seconds;
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

// Those of a GPU, likewise.
absl::Status MeasureDevicePeaks(const BenchDevice& device, std::vector<Subject>& subjects) {
  LZ_ASSIGN_OR_RETURN(const DevicePeaks peaks, device.MeasurePeaks());
  for (Subject& subject : subjects) {
    BenchStepResult& result = subject.result;
    result.peak_gflops = std::max(result.peak_gflops, peaks.gflops);
    result.peak_gbs = std::max(result.peak_gbs, peaks.gbs);
  }
  return absl::OkStatus();
}

}  // namespace

int BenchStep(const BenchStepOptions& options) {
  const auto cases = BenchStepCases(options);
  if (!cases.ok()) return PrintError(cases.status(), kExitUsage);
  const auto device = BenchDevice::Open(options.device);
  if (!device.ok()) return PrintError(device.status(), kExitUsage);
  BenchSteps<BenchStepCase, Subject, BenchStepResult> steps;
  steps.verb = "step";
  steps.make = [&](const BenchStepCase& step) { return MakeSubject(*device, step); };
  steps.warm_up = [&](Subject& subject) { return TimeOneStep(*device, subject).status(); };
  steps.measure_peaks = [&](std::vector<Subject>& subjects) {
    if (!device->is_cpu()) return MeasureDevicePeaks(*device, subjects);
    MeasurePeaks(subjects);
    return absl::OkStatus();
  };
  steps.time_round = [&](Subject& subject) -> absl::Status {
    LZ_ASSIGN_OR_RETURN(const double seconds, TimeOneStep(*device, subject));
    subject.result.seconds.push_back(seconds);
    return absl::OkStatus();
  };
  steps.json = BenchStepJson;
  steps.table = BenchStepTable;
  return RunBench(steps, *cases, options.rounds, device->gpu(), options.output);
}

}  // namespace lzero
