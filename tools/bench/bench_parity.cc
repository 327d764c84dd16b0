#include "tools/bench/bench_parity.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch_status.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/table/bench_parity_report.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

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

absl::StatusOr<ParityDifferences> RunSearches(const BenchParityOptions& options,
                                              const Column& column) {
  LZ_ASSIGN_OR_RETURN(const auto eager, BenchEngine::Create(CaseOf(options, {"eager", "fp32"})));
  LZ_ASSIGN_OR_RETURN(const auto other, BenchEngine::Create(CaseOf(options, column)));
  ParityDifferences sums;
  BenchProgress progress;
  for (int64_t i = 0; i < options.searches; ++i) {
    progress.Show(
        absl::StrCat(column.runner, " ", column.dtype, ": searches ", i, "/", options.searches));
    for (BenchEngine* engine : {eager.get(), other.get()}) {
      engine->BeginEpisodes(static_cast<uint64_t>(i));
      LZ_RETURN_IF_ERROR(engine->RunSearch());
    }
    AddDifferences(other->result(), eager->result(), &sums);
  }
  return sums;
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

}  // namespace

int BenchParity(const BenchParityOptions& options) {
  const std::vector<Column> columns = ColumnsOf(options);
  const absl::Status checked = CheckCases(options, columns);
  if (!checked.ok()) return PrintError(checked, kExitUsage);
  const auto device = BenchDevice::Open(options.device);
  if (!device.ok()) return PrintError(device.status(), kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against, "parity");
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  BenchConditions conditions = BeginConditions(device->gpu());
  std::vector<ParityDifferences> differences;
  for (const Column& column : columns) {
    const auto sums = CatchTorch([&] { return RunSearches(options, column); });
    if (!sums.ok()) return PrintError(sums.status(), kExitFailure);
    differences.push_back(*sums);
  }
  conditions.load_after = LoadAverage();
  std::vector<std::string> objects;
  std::string table = "beside eager:\n";
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string engine = EngineCaseJson(CaseOf(options, columns[i]));
    objects.push_back(ParityJson(engine, options.searches, differences[i], conditions));
    table += ParityLine(columns[i].runner, columns[i].dtype, differences[i]);
  }
  PrintBench(objects, table, *baseline, options.output);
  return kExitOk;
}

}  // namespace lzero
