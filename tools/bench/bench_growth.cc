#include "tools/bench/bench_growth.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/table/bench_figures.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

constexpr int64_t kWindow = 100;         // simulations at each end of the long search
constexpr int64_t kEpisodeSims = 5;      // of each search of the long episode
constexpr int64_t kSearchesAtStep = 20;  // timed around each step
constexpr double kMebibyte = 1 << 20;

std::string Number(double value) { return absl::StrFormat("%.5g", value); }

// Passes on, and notes when each simulation asks: from one call to the next is one simulation, tree
// work included.
class ClockedModel : public InferenceModel {
 public:
  ClockedModel(InferenceModel* model, int64_t num_simulations) : model_(*model) {
    times_.reserve(static_cast<size_t>(num_simulations));
  }
  int num_actions() const override { return model_.num_actions(); }
  int num_chance_outcomes() const override { return model_.num_chance_outcomes(); }
  const SampledActions* sampled_actions() const override { return model_.sampled_actions(); }
  void BeginSearch(const SearchRequest& request) override { model_.BeginSearch(request); }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    times_.clear();
    return model_.InitialInference(roots, prior_logits, value);
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    times_.push_back(MonotonicSeconds());
    return model_.RecurrentInference(parents, actions, children, rewards, discounts, values,
                                     prior_logits);
  }
  // Seconds of one simulation, the mean over the first or last kWindow.
  double First() const { return (times_[kWindow] - times_[0]) / kWindow; }
  double Last() const { return (times_.back() - times_[times_.size() - 1 - kWindow]) / kWindow; }

 private:
  InferenceModel& model_;
  std::vector<double> times_;
};

BenchEngineCase CaseOf(const std::string& runner, int64_t embed, int64_t batch,
                       int64_t simulations) {
  BenchEngineCase bench;
  bench.step.runner = runner;
  bench.step.embed = embed;
  bench.step.batch = batch;
  bench.simulations = simulations;
  return bench;
}

struct Printed {
  std::vector<std::string> cases;  // objects without their conditions and their last brace
  std::string table;
};

void Print(const Printed& printed, BenchConditions conditions, const BenchBaseline& baseline,
           const BenchOutputOptions& options) {
  conditions.load_after = LoadAverage();
  std::vector<std::string> objects;
  for (const std::string& each : printed.cases) {
    objects.push_back(absl::StrCat(each, ",", ConditionsJson(conditions), "}"));
  }
  PrintBench(objects, printed.table, baseline, options);
}

absl::Status GrowSearch(const BenchGrowthOptions& options, const std::string& runner,
                        Printed* printed) {
  const BenchEngineCase bench = CaseOf(runner, options.embed, options.batch, options.simulations);
  LZ_ASSIGN_OR_RETURN(const auto engine, BenchEngine::Create(bench));
  ClockedModel clocked(&engine->inference(), options.simulations);
  LZ_RETURN_IF_ERROR(engine->RunSearch(&clocked));
  std::vector<double> first, last, ratios;
  for (int64_t round = 0; round < options.rounds; ++round) {
    LZ_RETURN_IF_ERROR(engine->RunSearch(&clocked));
    first.push_back(clocked.First() * 1e6);
    last.push_back(clocked.Last() * 1e6);
    ratios.push_back(last.back() / first.back());
  }
  const BenchTimes first_times = TimesOf(first), last_times = TimesOf(last);
  printed->cases.push_back(
      absl::StrCat("{\"bench\":\"growth\",\"kind\":\"simulations\",", EngineCaseJson(bench),
                   ",\"first_us_min\":", Number(first_times.min), ",\"first_us_median\":",
                   Number(first_times.median), ",\"last_us_min\":", Number(last_times.min),
                   ",\"last_us_median\":", Number(last_times.median),
                   ",\"last_to_first_ratio\":", Number(TimesOf(ratios).median)));
  absl::StrAppendFormat(&printed->table,
                        "%-7s one search of %d simulations: the first %d cost %.1f us each, the "
                        "last %d %.1f us; in one round %.2f times as much (medians)\n",
                        runner, options.simulations, kWindow, first_times.median, kWindow,
                        last_times.median, TimesOf(ratios).median);
  return absl::OkStatus();
}

absl::Status GrowEpisode(const BenchGrowthOptions& options, const std::string& runner,
                         Printed* printed) {
  const BenchEngineCase bench = CaseOf(runner, options.embed, options.batch, kEpisodeSims);
  LZ_ASSIGN_OR_RETURN(const auto engine, BenchEngine::Create(bench));
  BenchProgress progress;
  for (int64_t step = 10; step <= options.episode_steps; step *= 10) {
    while (engine->num_searches() < step - kSearchesAtStep / 2) {
      LZ_RETURN_IF_ERROR(engine->RunSearch());
      progress.Show(
          absl::StrCat(runner, ": step ", engine->num_searches(), "/", options.episode_steps));
    }
    std::vector<double> seconds;
    for (int64_t i = 0; i < kSearchesAtStep; ++i) {
      const double start = MonotonicSeconds();
      LZ_RETURN_IF_ERROR(engine->RunSearch());
      seconds.push_back((MonotonicSeconds() - start) * 1e6);
    }
    const BenchTimes us = TimesOf(seconds);
    const double resident = static_cast<double>(ResidentBytes()) / kMebibyte;
    const int64_t cache_bytes = engine->inference().cache().stats().bytes;
    printed->cases.push_back(absl::StrCat(
        "{\"bench\":\"growth\",\"kind\":\"episode\",", EngineCaseJson(bench), ",\"step\":", step,
        ",\"us_min\":", Number(us.min), ",\"us_median\":", Number(us.median),
        ",\"cache_bytes\":", cache_bytes, ",\"resident_mib\":", Number(resident)));
    absl::StrAppendFormat(&printed->table,
                          "%-7s step %5d of an episode: a search takes %.1f us (median %.1f); "
                          "cache %d bytes, process %.1f MiB\n",
                          runner, step, us.min, us.median, cache_bytes, resident);
  }
  return absl::OkStatus();
}

// What lies in memory now; of the device nothing where it is the CPU.
struct MemoryNow {
  double resident = 0.0, device = 0.0, device_reserved = 0.0;  // MiB
};

absl::StatusOr<MemoryNow> MeasureMemory(const BenchDevice& device) {
  MemoryNow memory;
  memory.resident = static_cast<double>(ResidentBytes()) / kMebibyte;
  LZ_ASSIGN_OR_RETURN(memory.device, device.UsedMebibytes());
  LZ_ASSIGN_OR_RETURN(memory.device_reserved, device.ReservedMebibytes());
  return memory;
}

// Loads, searches and unloads once. All times include waiting for the device.
absl::Status UnloadCycle(const BenchDevice& device, const BenchEngineCase& bench, int64_t cycle,
                         Printed* printed) {
  const double start = MonotonicSeconds();
  LZ_ASSIGN_OR_RETURN(auto engine, BenchEngine::Create(bench));
  LZ_RETURN_IF_ERROR(device.Wait());
  const double loaded = MonotonicSeconds();
  for (int i = 0; i < 2; ++i) LZ_RETURN_IF_ERROR(engine->RunSearch());
  LZ_RETURN_IF_ERROR(device.Wait());
  const double searched = MonotonicSeconds();
  LZ_ASSIGN_OR_RETURN(const MemoryNow held, MeasureMemory(device));
  const double measured = MonotonicSeconds();
  engine.reset();
  const double unloaded = MonotonicSeconds();
  LZ_ASSIGN_OR_RETURN(const MemoryNow after, MeasureMemory(device));
  const std::string on_device =
      device.is_cpu()
          ? ""
          : absl::StrCat(
                ",\"device_loaded_mib\":", Number(held.device),
                ",\"device_mib\":", absl::StrFormat("%.3f", after.device),
                ",\"device_reserved_mib\":", absl::StrFormat("%.3f", after.device_reserved));
  printed->cases.push_back(absl::StrCat(
      "{\"bench\":\"unload\",", EngineCaseJson(bench), ",\"cycle\":", cycle, ",\"load_ms\":",
      Number((loaded - start) * 1e3), ",\"search_ms\":", Number((searched - loaded) * 1e3),
      ",\"unload_ms\":", Number((unloaded - measured) * 1e3), ",\"loaded_mib\":",
      Number(held.resident), ",\"resident_mib\":", Number(after.resident), on_device));
  absl::StrAppendFormat(&printed->table, "%-10s E %4d cycle %3d: %8.2f MiB loaded, %8.2f after",
                        bench.step.runner, bench.step.embed, cycle, held.resident, after.resident);
  if (!device.is_cpu()) {
    absl::StrAppendFormat(&printed->table, "; device %8.2f MiB loaded, %8.2f after", held.device,
                          after.device);
  }
  printed->table += "\n";
  return absl::OkStatus();
}

// One runner after another, not interleaved as elsewhere: the memory after a cycle is all that any
// runner left, so only cycles without another one between them show whether this one grows. The
// times beside it are of one stretch of the machine each.
absl::Status UnloadCycles(const BenchDevice& device, const BenchUnloadOptions& options,
                          const std::vector<std::string>& runners, Printed* printed) {
  for (const std::string& runner : runners) {
    for (const int64_t embed : options.embed) {
      BenchEngineCase bench = CaseOf(runner, embed, options.batch, options.simulations);
      bench.step.device = options.device;
      bench.step.dtype = options.dtype;
      bench.step.threads = options.threads;
      for (int64_t cycle = 1; cycle <= options.cycles; ++cycle) {
        LZ_RETURN_IF_ERROR(UnloadCycle(device, bench, cycle, printed));
      }
    }
  }
  return absl::OkStatus();
}

// Checks the sizes by the rules of `bench step`.
absl::Status CheckCases(const std::string& device, const std::vector<std::string>& runners,
                        const std::vector<int64_t>& embed, int64_t batch,
                        BenchStepOptions step = {}) {
  step.device = device;
  step.runners = runners;
  step.embed = embed;
  step.batch = {batch};
  return BenchStepCases(step).status();
}

}  // namespace

int BenchGrowth(const BenchGrowthOptions& options) {
  const absl::Status checked = CheckCases("cpu", options.runners, {options.embed}, options.batch);
  if (!checked.ok()) return PrintError(checked, kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against, "growth");
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  const BenchConditions conditions = BeginConditions();
  Printed printed;
  const absl::Status grown = CatchTorch([&]() -> absl::Status {
    for (const std::string& runner : options.runners) {
      LZ_RETURN_IF_ERROR(GrowSearch(options, runner, &printed));
      LZ_RETURN_IF_ERROR(GrowEpisode(options, runner, &printed));
    }
    return absl::OkStatus();
  });
  if (!grown.ok()) return PrintError(grown, kExitFailure);
  Print(printed, conditions, *baseline, options.output);
  return kExitOk;
}

int BenchUnload(const BenchUnloadOptions& options) {
  std::vector<std::string> runners = options.runners;
  if (runners.empty() && options.device == "cuda") runners = {"eager", "cuda_graph"};
  if (runners.empty()) runners = {"packed"};
  BenchStepOptions step;
  step.dtypes = {options.dtype};
  step.threads = {options.threads};
  const absl::Status checked =
      CheckCases(options.device, runners, options.embed, options.batch, step);
  if (!checked.ok()) return PrintError(checked, kExitUsage);
  const auto device = BenchDevice::Open(options.device);
  if (!device.ok()) return PrintError(device.status(), kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against, "unload");
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  const BenchConditions conditions = BeginConditions(device->gpu());
  Printed printed;
  const absl::Status cycled =
      CatchTorch([&] { return UnloadCycles(*device, options, runners, &printed); });
  if (!cycled.ok()) return PrintError(cycled, kExitFailure);
  Print(printed, conditions, *baseline, options.output);
  return kExitOk;
}

}  // namespace lzero
