#include "tools/bench_parity.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch_status.h"
#include "tools/bench_device.h"
#include "tools/bench_engine.h"
#include "tools/interrupt.h"
#include "tools/machine_peaks.h"
#include "tools/source_commit.h"
#include "tools/verb_support.h"

namespace lzero {
namespace {

// Sums over the roots of all searches.
struct Differences {
  double value_error = 0.0;   // largest of the network's values of roots
  double search_error = 0.0;  // largest of the values that searches gave to roots
  double largest_value = 1.0;
  int64_t num_roots = 0;
  int64_t num_changed_roots = 0;    // any visit count differs
  int64_t num_changed_actions = 0;  // another most visited action
  int64_t num_visits = 0;
  int64_t num_moved_visits = 0;
};

void Compare(const SearchResult& got, const SearchResult& expected, Differences* sums) {
  const auto num_actions = static_cast<size_t>(expected.num_actions);
  for (size_t b = 0; b < static_cast<size_t>(expected.num_roots); ++b) {
    const double value = expected.network_values[b];
    sums->largest_value = std::max(sums->largest_value, std::abs(value));
    sums->value_error = std::max(sums->value_error, std::abs(got.network_values[b] - value));
    sums->search_error = std::max<double>(sums->search_error,
                                          std::abs(got.root_values[b] - expected.root_values[b]));
    int64_t moved = 0;
    for (size_t a = 0; a < num_actions; ++a) {
      const int32_t visits = expected.visit_counts[b * num_actions + a];
      moved += std::abs(got.visit_counts[b * num_actions + a] - visits);
      sums->num_visits += visits;
    }
    ++sums->num_roots;
    sums->num_changed_roots += moved > 0;
    sums->num_moved_visits += moved / 2;  // each left one action and came to another
    sums->num_changed_actions += got.best_actions[b] != expected.best_actions[b];
  }
}

struct Column {
  std::string runner, dtype;
};

std::vector<Column> ColumnsOf(const BenchParityOptions& options) {
  std::vector<Column> columns;
  for (const std::string& runner : options.runners) columns.push_back({runner, "fp32"});
  if (!columns.empty()) return columns;
  if (options.device == "cuda") return {{"cuda_graph", "fp32"}};
  return {{"packed", "fp32"}, {"packed", "bf16"}};
}

BenchEngineCase CaseOf(const BenchParityOptions& options, const Column& column) {
  BenchEngineCase bench;
  bench.step.embed = options.embed;
  bench.step.batch = options.batch;
  bench.step.actions = options.actions;
  bench.step.device = options.device;
  bench.step.runner = column.runner;
  bench.step.dtype = column.dtype;
  bench.simulations = options.simulations;
  return bench;
}

absl::StatusOr<Differences> RunSearches(const BenchParityOptions& options, const Column& column) {
  LZ_ASSIGN_OR_RETURN(const auto eager, BenchEngine::Create(CaseOf(options, {"eager", "fp32"})));
  LZ_ASSIGN_OR_RETURN(const auto other, BenchEngine::Create(CaseOf(options, column)));
  Differences sums;
  for (int64_t i = 0; i < options.searches; ++i) {
    for (BenchEngine* engine : {eager.get(), other.get()}) {
      engine->BeginEpisodes(static_cast<uint64_t>(i));
      LZ_RETURN_IF_ERROR(engine->RunSearch());
    }
    Compare(other->result(), eager->result(), &sums);
  }
  return sums;
}

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string JsonOf(const BenchEngineCase& bench, int64_t searches, const Differences& sums) {
  return absl::StrCat(
      "{\"bench\":\"parity\",", EngineCaseJson(bench), ",\"searches\":", searches,
      absl::StrFormat(",\"value_error_ratio\":%.3g,\"search_value_error_ratio\":%.3g,"
                      "\"changed_roots_share\":%.4g,\"moved_visits_share\":%.4g,"
                      "\"changed_actions_share\":%.4g",
                      sums.value_error / sums.largest_value, sums.search_error / sums.largest_value,
                      Share(sums.num_changed_roots, sums.num_roots),
                      Share(sums.num_moved_visits, sums.num_visits),
                      Share(sums.num_changed_actions, sums.num_roots)),
      ",\"cpu\":\"", CpuName(), "\",\"commit\":\"", SourceCommit(), "\"}");
}

// The sizes are checked by the rules of `bench step`.
absl::Status CheckCases(const BenchParityOptions& options, const std::vector<Column>& columns) {
  BenchStepOptions sizes;
  sizes.device = options.device;
  sizes.embed = {options.embed};
  sizes.batch = {options.batch};
  for (const Column& column : columns) sizes.runners.push_back(column.runner);
  return BenchStepCases(sizes).status();
}

std::string LineOf(const Column& column, const Differences& sums) {
  return absl::StrFormat(
      "%s %s: values of roots %.2g apart, those of searches %.2g (relative to the largest); of %d "
      "roots %.1f %% have other visit counts, %.2f %% of all visits moved, %.1f %% of the best "
      "actions changed\n",
      column.runner, column.dtype, sums.value_error / sums.largest_value,
      sums.search_error / sums.largest_value, sums.num_roots,
      100.0 * Share(sums.num_changed_roots, sums.num_roots),
      100.0 * Share(sums.num_moved_visits, sums.num_visits),
      100.0 * Share(sums.num_changed_actions, sums.num_roots));
}

}  // namespace

int BenchParity(const BenchParityOptions& options) {
  const std::vector<Column> columns = ColumnsOf(options);
  const absl::Status checked = CheckCases(options, columns);
  if (!checked.ok()) return PrintError(checked, kExitUsage);
  const auto device = BenchDevice::Open(options.device);
  if (!device.ok()) return PrintError(device.status(), kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against);
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  std::vector<std::string> objects;
  std::string table = "beside eager:\n";
  for (const Column& column : columns) {
    const auto sums = CatchTorch([&] { return RunSearches(options, column); });
    if (!sums.ok()) return PrintError(sums.status(), kExitFailure);
    objects.push_back(JsonOf(CaseOf(options, column), options.searches, *sums));
    table += LineOf(column, *sums);
  }
  PrintBench(objects, table, *baseline, options.output);
  return kExitOk;
}

}  // namespace lzero
