#include "tools/bench/bench_engine_search.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "nlohmann/json.hpp"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_rounds.h"
#include "tools/bench/table/bench_sweep.h"

namespace lzero {
namespace {

// Of one case in one round.
constexpr double kMeasuredSeconds = 0.05;
constexpr int64_t kMinSearches = 2;

struct SearchResultOfCase {
  BenchEngineCase bench;
  std::vector<double> us_per_sim;  // one a round
};

struct Subject {
  SearchResultOfCase result;
  std::unique_ptr<BenchEngine> engine;
};

absl::StatusOr<std::vector<BenchEngineCase>> CasesOf(const BenchEngineSearchOptions& options) {
  BenchStepOptions sizes = options.step;
  if (sizes.runners.empty()) {
    sizes.runners = {"eager", sizes.device == "cuda" ? "cuda_graph" : "packed"};
  }
  LZ_ASSIGN_OR_RETURN(const auto steps, BenchStepCases(sizes));
  std::vector<BenchEngineCase> cases;
  for (const BenchStepCase& step : steps) cases.push_back({.step = step});
  Sweep(options.policies, &BenchEngineCase::policy, &cases);
  Sweep(options.simulations, &BenchEngineCase::simulations, &cases);
  for (const BenchEngineCase& bench : cases) {
    LZ_RETURN_IF_ERROR(CheckName("--policy", bench.policy, {"puct", "gumbel"}));
  }
  return cases;
}

absl::StatusOr<Subject> MakeSubject(const BenchEngineCase& bench) {
  Subject subject;
  subject.result.bench = bench;
  LZ_ASSIGN_OR_RETURN(subject.engine, BenchEngine::Create(bench));
  return subject;
}

absl::Status TimeRound(const BenchDevice& device, Subject& subject) {
  const BenchEngineCase& bench = subject.result.bench;
  SetTensorThreads(static_cast<int>(bench.step.threads));
  LZ_ASSIGN_OR_RETURN(const double seconds, TimeRuns(device, kMinSearches, kMeasuredSeconds,
                                                     [&] { return subject.engine->RunSearch(); }));
  subject.result.us_per_sim.push_back(1e6 * seconds / static_cast<double>(bench.simulations));
  return absl::OkStatus();
}

std::string JsonOf(const SearchResultOfCase& result, const BenchConditions& conditions) {
  const BenchTimes us = TimesOf(result.us_per_sim);
  nlohmann::ordered_json line = {{"bench", "search"}, {"kind", "engine"}};
  line.update(nlohmann::ordered_json::parse(absl::StrCat("{", EngineCaseJson(result.bench), "}")));
  line["rounds"] = result.us_per_sim.size();
  line["us_per_sim_min"] = Rounded(us.min);
  line["us_per_sim_median"] = Rounded(us.median);
  line["cpu"] = conditions.cpu;
  line["commit"] = conditions.commit;
  line["load"] = {Rounded(conditions.load_before), Rounded(conditions.load_after)};
  if (!conditions.gpu.empty()) line["gpu"] = conditions.gpu;
  return line.dump();
}

std::string TableOf(const std::vector<SearchResultOfCase>& results) {
  std::string table = "whole searches, microseconds a simulation of all environments\n";
  absl::StrAppendFormat(&table, "%-17s %-5s %5s %3s %3s %5s %-6s %5s %7s %10s %10s\n", "runner",
                        "dtype", "E", "L", "H", "B", "policy", "sims", "threads", "us min",
                        "us median");
  for (const SearchResultOfCase& result : results) {
    const BenchStepCase& step = result.bench.step;
    const BenchTimes us = TimesOf(result.us_per_sim);
    absl::StrAppendFormat(&table, "%-17s %-5s %5d %3d %3d %5d %-6s %5d %7d %10.1f %10.1f\n",
                          step.runner, step.dtype, step.embed, step.layers, step.heads, step.batch,
                          result.bench.policy, result.bench.simulations, step.threads, us.min,
                          us.median);
  }
  return table;
}

}  // namespace

int BenchEngineSearch(const BenchEngineSearchOptions& options) {
  const auto cases = CasesOf(options);
  if (!cases.ok()) return PrintError(cases.status(), kExitUsage);
  const auto device = BenchDevice::Open(options.step.device);
  if (!device.ok()) return PrintError(device.status(), kExitUsage);
  BenchSteps<BenchEngineCase, Subject, SearchResultOfCase> steps;
  steps.verb = "search";
  steps.make = MakeSubject;
  // The first search rebuilds its roots, all others continue them.
  steps.warm_up = [](Subject& subject) -> absl::Status {
    LZ_RETURN_IF_ERROR(subject.engine->RunSearch());
    return subject.engine->RunSearch();
  };
  steps.time_round = [&](Subject& subject) { return TimeRound(*device, subject); };
  steps.json = JsonOf;
  steps.table = TableOf;
  return RunBench(steps, *cases, options.step.rounds, device->gpu(), options.step.output);
}

}  // namespace lzero
