#include "tools/bench/table/bench_step_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

struct Figures {
  double us_min, us_median, gflops, gbs, gflops_share, gbs_share;
};

Figures FiguresOf(const BenchStepResult& result) {
  const BenchTimes seconds = TimesOf(result.seconds);
  Figures figures;
  figures.us_min = seconds.min * 1e6;
  figures.us_median = seconds.median * 1e6;
  figures.gflops = static_cast<double>(StepFlops(result.step)) / seconds.min * 1e-9;
  figures.gbs = static_cast<double>(StepReadBytes(result.step)) / seconds.min * 1e-9;
  figures.gflops_share = figures.gflops / result.peak_gflops;
  figures.gbs_share = figures.gbs / result.peak_gbs;
  return figures;
}

std::string MachineOf(const BenchStepCase& step) {
  if (step.device == "cuda") return "GPU";
  return absl::StrFormat("machine, %d thread%s", step.threads, step.threads == 1 ? "" : "s");
}

// A line for each number of threads: "machine, 1 thread: ...".
std::string MachineLines(const std::vector<BenchStepResult>& results) {
  std::map<std::string, std::map<int64_t, double>> gbs;         // [machine][bytes of weights]
  std::map<std::string, std::map<std::string, double>> gflops;  // [machine][dtype]
  for (const BenchStepResult& result : results) {
    const std::string machine = MachineOf(result.step);
    gflops[machine][result.step.dtype] = result.peak_gflops;
    gbs[machine][StepWeightBytes(result.step)] = result.peak_gbs;
  }
  std::string lines;
  for (const auto& [machine, peaks] : gflops) {
    const std::string sums = absl::StrJoin(peaks, ", ", [](std::string* out, const auto& peak) {
      absl::StrAppendFormat(out, "%.1f GFLOP/s %s peak", peak.second,
                            peak.first == "fp32" ? "fp32 FMA" : peak.first);
    });
    const std::string reads =
        absl::StrJoin(gbs[machine], ", ", [](std::string* out, const auto& read) {
          absl::StrAppendFormat(out, "%.1f GB/s from %.2f MiB", read.second,
                                static_cast<double>(read.first) / (1 << 20));
        });
    absl::StrAppendFormat(&lines, "%s: %s; reads %s\n", machine, sums, reads);
  }
  return lines;
}

}  // namespace

std::string BenchStepJson(const BenchStepResult& result, const BenchConditions& conditions) {
  const BenchStepCase& step = result.step;
  const Figures figures = FiguresOf(result);
  nlohmann::ordered_json line = {
      {"bench", "step"},
      {"device", step.device},
      {"runner", step.runner},
      {"embed", step.embed},
      {"layers", step.layers},
      {"heads", step.heads},
      {"batch", step.batch},
      {"context", step.context},
      {"support", step.support},
      {"actions", step.actions},
      {"dtype", step.dtype},
      {"threads", step.threads},
      {"us_min", Rounded(figures.us_min)},
      {"us_median", Rounded(figures.us_median)},
      {"gflops", Rounded(figures.gflops)},
      {"peak_gflops", Rounded(result.peak_gflops)},
      {"gbs", Rounded(figures.gbs)},
      {"peak_gbs", Rounded(result.peak_gbs)},
      {"cpu", conditions.cpu},
      {"commit", conditions.commit},
      {"load", {Rounded(conditions.load_before), Rounded(conditions.load_after)}}};
  if (!conditions.gpu.empty()) line["gpu"] = conditions.gpu;
  return line.dump();
}

std::string BenchStepTable(const std::vector<BenchStepResult>& results) {
  std::string table = MachineLines(results);
  absl::StrAppendFormat(
      &table, "%-10s %-5s %5s %3s %3s %5s %4s %5s %5s %7s %10s %10s %8s %7s %7s %7s  %s\n",
      "runner", "dtype", "E", "L", "H", "B", "W", "S", "A", "threads", "us min", "us median",
      "GFLOP/s", "of peak", "GB/s", "of peak", "limit that binds");
  for (const BenchStepResult& result : results) {
    const BenchStepCase& step = result.step;
    const Figures figures = FiguresOf(result);
    // Work / peak is the least time of each limit, and the shares of both are of the same time.
    const bool flops_bind = figures.gflops_share >= figures.gbs_share;
    absl::StrAppendFormat(&table,
                          "%-10s %-5s %5d %3d %3d %5d %4d %5d %5d %7d %10.1f %10.1f %8.1f %6.1f%% "
                          "%7.1f %6.1f%%  %s: %.0f%% reached\n",
                          step.runner, step.dtype, step.embed, step.layers, step.heads, step.batch,
                          step.context, step.support, step.actions, step.threads, figures.us_min,
                          figures.us_median, figures.gflops, 100.0 * figures.gflops_share,
                          figures.gbs, 100.0 * figures.gbs_share, flops_bind ? "FLOPs" : "reads",
                          100.0 * std::max(figures.gflops_share, figures.gbs_share));
  }
  return table;
}

}  // namespace lzero
