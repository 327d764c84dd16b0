#include "tools/bench/bench_command.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/load.h"
#include "lzero/env/env_rules.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/train/run_rules.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/device_counts.h"
#include "tools/bench/table/bench_report.h"
#include "tools/bench/table/model_cases.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

// A verb of `lzero bench` as the command line fills it. Two tables: the second when a runner or
// a device is asked for.
struct BenchVerb {
  std::vector<BenchTable> tables;
  BenchGiven given;  // with an empty list for what was not given
  int64_t rounds = 0;
  bool json_only = false;
  std::string against;  // a program, or the file of an earlier run; empty: none
};

absl::Status RunTable(const BenchVerb& verb, const BenchTable& table, const BenchGiven& given) {
  LZ_ASSIGN_OR_RETURN(const std::vector<BenchCase> cases, SweepCases(table, given));
  const auto device_of = [](const BenchCase& bench) {
    return bench.Has("device") ? bench.Word("device") : "cpu";
  };
  const std::string name = device_of(cases[0]);
  if (absl::c_any_of(cases, [&](const BenchCase& bench) { return device_of(bench) != name; })) {
    return absl::InvalidArgumentError("--device: got several, allowed: one");
  }
  // Measure, with another build in turn or beside an earlier run.
  BenchTurns turns;
  if (IsProgram(verb.against)) {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe");
    LZ_ASSIGN_OR_RETURN(turns, MeasureInTurn(table, given, cases, verb.rounds, own, verb.against));
  } else {
    if (!verb.against.empty()) {
      LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(verb.against));
      LZ_ASSIGN_OR_RETURN(turns.before, ParseBenchLines(table, text, verb.against));
    }
    LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(name));
    BenchMachine machine = {device->gpu()};
    if (!device->is_cpu()) machine.measure_peaks = [=] { return device->MeasurePeaks(); };
    LZ_ASSIGN_OR_RETURN(
        turns.now, CatchTorch([&] { return MeasureCases(table, cases, verb.rounds, machine); }));
  }
  // Report.
  // --against reads them from a file.
  if (verb.json_only || isatty(STDOUT_FILENO) == 0) {
    for (const BenchCase& each : turns.now) std::printf("%s\n", BenchLine(each).c_str());
  }
  if (!verb.json_only) std::printf("%s", BenchTableText(table, turns.now).c_str());
  if (verb.against.empty()) return absl::OkStatus();
  std::printf("against %s, below 1x is less now:\n", verb.against.c_str());
  for (const std::string& line : CompareBenchCases(table, turns.now, turns.before)) {
    std::printf("%s\n", line.c_str());
  }
  return absl::OkStatus();
}

int RunVerb(const BenchVerb& verb) {
  BenchGiven given = verb.given;
  std::erase_if(given, [](const auto& option) { return option.second.empty(); });
  const bool has_engine =
      given.count("runner") > 0 || (given.count("device") > 0 && given.at("device")[0] != "cpu");
  const BenchTable& table = has_engine ? verb.tables.back() : verb.tables.front();
  for (const auto& entry : given) {
    const std::string& option = entry.first;
    const auto is_this = [&](const BenchAxis& axis) { return axis.option() == option; };
    if (option == "device" || absl::c_any_of(table.axes, is_this)) continue;
    return PrintError(absl::InvalidArgumentError(absl::StrCat(
                          "--", option, " is of an engine's search; add --runner, as packed")),
                      kExitUsage);
  }
  const absl::Status status = RunTable(verb, table, given);
  if (status.ok()) return kExitOk;
  const bool is_usage = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                        absl::IsFailedPrecondition(status);  // a device that is not there
  return PrintError(status, is_usage ? kExitUsage : kExitFailure);
}

// "64", or what stands in place of it where no size is given.
std::string DefaultsText(const BenchTable& table, const BenchAxis& axis) {
  const bool has_preset = absl::c_any_of(table.presets, [&](const BenchPreset& preset) {
    return absl::StrContains(absl::StrCat(" ", preset.axes, " "),
                             absl::StrCat(" ", axis.name, " "));
  });
  return absl::StrCat(has_preset ? "as in the standard table, else " : "", axis.defaults);
}

void AddVerb(CLI::App* bench, VerbAction* action, const std::vector<BenchTable>& tables) {
  auto* verb = Keep<BenchVerb>();
  CLI::App* command = bench->add_subcommand(tables[0].verb, tables[0].help);
  verb->rounds = tables[0].rounds;
  verb->tables = tables;
  for (const BenchTable& table : tables) {
    for (const BenchAxis& axis : table.axes) {
      const std::string defaults = DefaultsText(table, axis);
      const std::string name = "--" + axis.option();
      if (!verb->given.emplace(axis.option(), std::vector<std::string>()).second) {
        CLI::Option* shared = command->get_option(name);
        shared->description(absl::StrCat(shared->get_description(), "; of an engine: ", defaults));
        continue;
      }
      CLI::Option* option = command->add_option(
          name, verb->given[axis.option()],
          defaults.empty() ? axis.help : absl::StrCat(axis.help, "; default: ", defaults));
      option->delimiter(',');
      if (axis.most > 0)
        option->type_name(absl::StrCat("INT:[", axis.least, " .. ", axis.most, "]"));
    }
  }
  if (verb->rounds > 0) {
    AddNumber(command, "--rounds", &verb->rounds, 5, 1000, "Interleaved rounds");
  }
  command->add_flag("--json", verb->json_only,
                    "Only JSON lines (default: a table on a terminal, both in a file)");
  command
      ->add_option("--against", verb->against,
                   "Compare with another build, run in turn with this one, or with a saved run: "
                   "the output of the same verb in a file")
      ->check(NotEmpty("a program or a file"));
  command->callback([=] { *action = [=] { return RunVerb(*verb); }; });
}

struct CountsVerb {
  std::string config_path;
  std::vector<std::string> overrides;
  bool json_only = false;
};

int RunCounts(const CountsVerb& verb) {
  const EnvRegistry native = MakeRegistry();
  const auto loaded = LoadConfig(verb.config_path, verb.overrides, RunRule(native));
  if (!loaded.ok()) return PrintError(loaded.status(), kExitUsage);
  if (loaded->config.tasks.size() > 1) {
    return PrintError(
        absl::InvalidArgumentError("counts are those of one task; the config has more"),
        kExitUsage);
  }
  const auto registry = RegistryWithPlugins(loaded->config, native);
  if (!registry.ok()) return PrintError(registry.status(), kExitUsage);
  const auto counted =
      CatchTorch([&] { return CountDeviceWork(TaskConfigs(loaded->config)[0], *registry); });
  if (!counted.ok()) return PrintError(counted.status(), kExitUsage);
  // A line each, or a table.
  for (const auto& [what, counts] : *counted) {
    BenchCase line = {{"what", what}};
    for (size_t i = 0; i < counts.size(); ++i) line.Add({{kCountedCalls[i].name, counts[i]}});
    if (verb.json_only) std::printf("%s\n", BenchLine(line).c_str());
    if (verb.json_only) continue;
    std::printf("%-10s", what.c_str());
    for (size_t i = 0; i < counts.size(); ++i) {
      std::printf("  %s %.2f", kCountedCalls[i].name, counts[i]);
    }
    std::printf("\n");
  }
  return kExitOk;
}

void AddCounts(CLI::App* bench, VerbAction* action) {
  auto* verb = Keep<CountsVerb>();
  CLI::App* command = bench->add_subcommand(
      "counts",
      "What the roots of a search, a simulation and an update ask of a device, counted: on the "
      "null GPU alone (tests/null_gpu)");
  command->add_option("config", verb->config_path, "YAML file that names a device")->required();
  command->add_option("overrides", verb->overrides, "key.path=value, e.g. inference.device=cuda");
  command->add_flag("--json", verb->json_only, "Only JSON lines");
  command->callback([=] { *action = [=] { return RunCounts(*verb); }; });
}

}  // namespace

void AddBench(CLI::App& app, VerbAction* action) {
  CLI::App* bench = app.add_subcommand(
      "bench",
      "Measure the speed of this build here. Lists (8,32) are swept, every combination is a case");
  bench->require_subcommand(1);
  AddVerb(bench, action, {TreeSearchTable(), EngineSearchTable()});
  for (const auto table : {StepTable, TrainTable, RunTable, UnloadTable, ParityTable}) {
    AddVerb(bench, action, {table()});
  }
  AddCounts(bench, action);
}

}  // namespace lzero
