#include "tools/bench/table/bench_rounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "nlohmann/json.hpp"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/source_commit.h"

namespace lzero {
namespace {

struct MeasuredCase {
  BenchCase bench;
  std::unique_ptr<BenchSubject> subject;
  std::vector<double> seconds;
  BenchPeaks peaks;  // the best of all rounds
};

// Says how far a benchmark is, not more often than every two seconds.
class BenchProgress {
 public:
  void Show(const std::string& text) {
    if (MonotonicSeconds() - last_time_ < 2.0) return;
    last_time_ = MonotonicSeconds();
    LZ_LOG_INFO(text);
  }

 private:
  double last_time_ = MonotonicSeconds();
};

// Measures each peak that the cases need once; none for cases that count no work.
absl::Status MeasurePeaks(const BenchMachine& machine, std::vector<MeasuredCase>& cases) {
  std::map<std::pair<int64_t, bool>, double> gflops;  // [threads, bf16]
  std::map<std::pair<int64_t, int64_t>, double> gbs;  // [threads, bytes]
  BenchPeaks gpu;
  for (MeasuredCase& each : cases) {
    const BenchWork work = each.subject->Work();
    if (work.flops == 0) continue;
    if (machine.measure_peaks && gpu.gflops == 0.0) {
      LZ_ASSIGN_OR_RETURN(gpu, machine.measure_peaks());
    }
    BenchPeaks peaks = gpu;
    if (!machine.measure_peaks) {
      const int64_t threads = each.bench.Int("threads");
      const bool is_bf16 = each.bench.Has("dtype") && each.bench.Text("dtype") == "bf16";
      double& sums = gflops[{threads, is_bf16}];
      if (sums == 0.0) sums = is_bf16 ? MeasurePeakBf16Gflops(threads) : MeasurePeakGflops(threads);
      double& reads = gbs[{threads, work.weight_bytes}];
      if (reads == 0.0 && work.read_bytes > 0) reads = MeasureReadGbs(work.weight_bytes, threads);
      peaks = {sums, reads};
    }
    each.peaks.gflops = std::max(each.peaks.gflops, peaks.gflops);
    each.peaks.gbs = std::max(each.peaks.gbs, peaks.gbs);
  }
  return absl::OkStatus();
}

// Five significant digits, and hundredths of what is large: more is noise.
double RoundedNumber(double value) {
  const bool is_large = std::abs(value) >= 1000.0;
  const std::string text =
      is_large ? absl::StrFormat("%.2f", value) : absl::StrFormat("%.5g", value);
  return std::strtod(text.c_str(), nullptr);
}

void AddMembers(const BenchCase& members, nlohmann::ordered_json* line) {
  for (const auto& [name, value] : members.members()) {
    if (const auto* number = std::get_if<double>(&value)) {
      (*line)[name] = RoundedNumber(*number);
    } else if (const auto* count = std::get_if<int64_t>(&value)) {
      (*line)[name] = *count;
    } else {
      (*line)[name] = std::get<std::string>(value);
    }
  }
}

// `load`: before and after.
std::string LineOf(const BenchTable& table, MeasuredCase& measured, int64_t rounds,
                   const BenchMachine& machine, std::pair<double, double> load) {
  nlohmann::ordered_json line = {{"bench", table.verb}};
  if (!table.kind.empty()) line["kind"] = table.kind;
  AddMembers(measured.bench, &line);
  if (table.rounds > 0) line["rounds"] = rounds;
  std::vector<double>& seconds = measured.seconds;
  if (!table.unit.empty()) {
    LZ_CHECK(!seconds.empty(), "a case without a time");
    std::sort(seconds.begin(), seconds.end());
    AddMembers({{table.unit + "_min", seconds.front() * UnitsPerSecond(table)},
                {table.unit + "_median", seconds[seconds.size() / 2] * UnitsPerSecond(table)}},
               &line);
  }
  AddMembers(measured.subject->Metrics(), &line);
  const BenchWork work = measured.subject->Work();
  const auto add_speed = [&](const char* name, int64_t count, double peak) {
    if (count == 0) return;
    AddMembers({{name, 1e-9 * static_cast<double>(count) / seconds.front()},
                {absl::StrCat("peak_", name), peak}},
               &line);
  };
  add_speed("gflops", work.flops, measured.peaks.gflops);
  add_speed("gbs", work.read_bytes, measured.peaks.gbs);
  AddMembers({{"cpu", CpuName()}, {"commit", SourceCommit()}}, &line);
  line["load"] = {RoundedNumber(load.first), RoundedNumber(load.second)};
  if (!machine.gpu.empty()) line["gpu"] = machine.gpu;
  return line.dump();
}

}  // namespace

double UnitsPerSecond(const BenchTable& table) {
  return absl::StartsWith(table.unit, "ns") ? 1e9 : absl::StartsWith(table.unit, "us") ? 1e6 : 1e3;
}

absl::StatusOr<std::vector<std::string>> MeasureCases(const BenchTable& table,
                                                      const std::vector<BenchCase>& cases,
                                                      int64_t rounds, const BenchMachine& machine) {
  const double load_before = LoadAverage();
  BenchProgress progress;
  std::vector<MeasuredCase> measured;
  for (const BenchCase& bench : cases) {
    measured.emplace_back().bench = bench;
    measured.back().subject = table.make(bench);
    LZ_RETURN_IF_ERROR(measured.back().subject->Prepare());
    progress.Show(absl::StrCat("prepared ", measured.size(), "/", cases.size(), " cases"));
  }
  if (table.rounds == 0) rounds = 1;
  for (int64_t round = 1; round <= rounds; ++round) {
    LZ_RETURN_IF_ERROR(MeasurePeaks(machine, measured));
    for (size_t i = 0; i < measured.size(); ++i) {
      LZ_RETURN_IF_ERROR(measured[i].subject->RunRound(&measured[i].seconds));
      progress.Show(
          absl::StrCat("round ", round, "/", rounds, ", case ", i + 1, "/", measured.size()));
    }
  }
  std::vector<std::string> lines;
  const std::pair<double, double> load = {load_before, LoadAverage()};
  for (MeasuredCase& each : measured) lines.push_back(LineOf(table, each, rounds, machine, load));
  return lines;
}

}  // namespace lzero
