#include "tools/bench/table/bench_train_report.h"

#include <cstdint>
#include <map>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

struct Figures {
  double ms_min, ms_median, sample_ms_median, sample_share, gflops;
};

Figures FiguresOf(const BenchTrainResult& result) {
  const BenchTimes seconds = TimesOf(result.seconds), sample = TimesOf(result.sample_seconds);
  Figures figures;
  figures.ms_min = seconds.min * 1e3;
  figures.ms_median = seconds.median * 1e3;
  figures.sample_ms_median = sample.median * 1e3;
  figures.sample_share = sample.median / seconds.median;
  figures.gflops = static_cast<double>(UpdateFlops(result.train)) / seconds.min * 1e-9;
  return figures;
}

}  // namespace

std::string BenchTrainJson(const BenchTrainResult& result, const BenchConditions& conditions) {
  const BenchTrainCase& train = result.train;
  const Figures figures = FiguresOf(result);
  const nlohmann::ordered_json line = {
      {"bench", "train"},
      {"encoder", train.encoder},
      {"observation", train.observation},
      {"embed", train.embed},
      {"layers", train.layers},
      {"heads", train.heads},
      {"batch", train.batch},
      {"unroll", train.unroll},
      {"context", train.context},
      {"support", train.support},
      {"actions", train.actions},
      {"threads", train.threads},
      {"updates", result.seconds.size()},
      {"ms_min", Rounded(figures.ms_min)},
      {"ms_median", Rounded(figures.ms_median)},
      {"sample_ms_median", Rounded(figures.sample_ms_median)},
      {"sample_share", Rounded(figures.sample_share)},
      {"gflops", Rounded(figures.gflops)},
      {"peak_gflops", Rounded(result.peak_gflops)},
      {"cpu", conditions.cpu},
      {"commit", conditions.commit},
      {"load", {Rounded(conditions.load_before), Rounded(conditions.load_after)}}};
  return line.dump();
}

std::string BenchTrainTable(const std::vector<BenchTrainResult>& results) {
  std::map<int64_t, double> peaks;
  for (const BenchTrainResult& result : results) {
    peaks[result.train.threads] = result.peak_gflops;
  }
  std::string table;
  for (const auto& [threads, peak] : peaks) {
    absl::StrAppendFormat(&table, "machine, %d thread%s: %.1f GFLOP/s fp32 FMA peak\n", threads,
                          threads == 1 ? "" : "s", peak);
  }
  absl::StrAppendFormat(&table,
                        "%-7s %-8s %5s %3s %3s %5s %4s %4s %5s %4s %7s %9s %9s %8s %8s %7s\n",
                        "encoder", "obs", "E", "L", "H", "N", "U", "W", "S", "A", "threads",
                        "ms min", "ms median", "sampling", "GFLOP/s", "of peak");
  for (const BenchTrainResult& result : results) {
    const BenchTrainCase& train = result.train;
    const Figures figures = FiguresOf(result);
    absl::StrAppendFormat(
        &table, "%-7s %-8s %5d %3d %3d %5d %4d %4d %5d %4d %7d %9.2f %9.2f %7.2f%% %8.1f %6.1f%%\n",
        train.encoder, train.observation, train.embed, train.layers, train.heads, train.batch,
        train.unroll, train.context, train.support, train.actions, train.threads, figures.ms_min,
        figures.ms_median, 100.0 * figures.sample_share, figures.gflops,
        100.0 * figures.gflops / result.peak_gflops);
  }
  return table;
}

}  // namespace lzero
