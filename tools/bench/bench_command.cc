#include "tools/bench/bench_command.h"

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
#include "lzero/tensor/torch_status.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/bench_report.h"
#include "tools/bench/table/bench_rounds.h"
#include "tools/bench/table/bench_turns.h"
#include "tools/bench/table/tree_search.h"
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

void PrintRun(const BenchVerb& verb, const BenchTable& table, const std::vector<std::string>& lines,
              const std::vector<std::string>& earlier) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  if (!verb.json_only) std::printf("%s", BenchTableText(table, lines).c_str());
  if (verb.against.empty()) return;
  std::printf("against %s, below 1x is less now:\n", verb.against.c_str());
  for (const std::string& line : CompareBenchLines(table, lines, earlier)) {
    std::printf("%s\n", line.c_str());
  }
}

// 2 for what the user can put right, 1 for all else.
int PrintBenchError(const absl::Status& status) {
  const bool is_usage = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                        absl::IsFailedPrecondition(status);  // a device that is not there
  return PrintError(status, is_usage ? kExitUsage : kExitFailure);
}

absl::Status RunTable(const BenchVerb& verb, const BenchTable& table, const BenchGiven& given) {
  LZ_ASSIGN_OR_RETURN(const std::vector<BenchCase> cases, SweepCases(table, given));
  const auto has_device = [](const BenchCase& bench) { return bench.Has("device"); };
  const std::string name = has_device(cases[0]) ? cases[0].Text("device") : "cpu";
  if (absl::c_any_of(cases, [&](const BenchCase& bench) {
        return has_device(bench) && bench.Text("device") != name;
      })) {
    return absl::InvalidArgumentError("--device: got several, allowed: one");
  }
  if (IsProgram(verb.against)) {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe");
    LZ_ASSIGN_OR_RETURN(const BenchTurns turns,
                        MeasureInTurn(table, given, cases, verb.rounds, own, verb.against));
    PrintRun(verb, table, turns.now, turns.before);
    return absl::OkStatus();
  }
  std::vector<std::string> earlier;
  if (!verb.against.empty()) {
    LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(verb.against));
    LZ_ASSIGN_OR_RETURN(earlier, FindBenchLines(table, text, verb.against));
  }
  LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(name));
  BenchMachine machine;
  machine.gpu = device->gpu();
  if (!device->is_cpu()) machine.measure_peaks = [=] { return device->MeasurePeaks(); };
  LZ_ASSIGN_OR_RETURN(const auto lines,
                      CatchTorch([&] { return MeasureCases(table, cases, verb.rounds, machine); }));
  PrintRun(verb, table, lines, earlier);
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
  return status.ok() ? kExitOk : PrintBenchError(status);
}

// "64", or what stands in place of it where no size is given.
std::string DefaultsText(const BenchTable& table, const BenchAxis& axis) {
  const bool has_preset = absl::c_any_of(table.presets, [&](const BenchPreset& preset) {
    return absl::StrContains(absl::StrCat(" ", preset.axes, " "),
                             absl::StrCat(" ", axis.name, " "));
  });
  return has_preset ? absl::StrCat("as in the standard table, else ", axis.defaults)
                    : axis.defaults;
}

void AddVerb(CLI::App* bench, VerbAction* action, const std::string& help,
             std::vector<BenchTable> tables) {
  auto* verb = Keep<BenchVerb>();
  CLI::App* command = bench->add_subcommand(tables[0].verb, help);
  verb->rounds = tables[0].rounds;
  verb->tables = std::move(tables);
  for (const BenchTable& table : verb->tables) {
    for (const BenchAxis& axis : table.axes) {
      const std::string defaults = DefaultsText(table, axis);
      const std::string name = "--" + axis.option();
      if (!verb->given.emplace(axis.option(), std::vector<std::string>()).second) {
        CLI::Option* shared = command->get_option(name);
        shared->description(absl::StrCat(shared->get_description(), "; of an engine: ", defaults));
        continue;
      }
      CLI::Option* option = command->add_option(name, verb->given[axis.option()],
                                                absl::StrCat(axis.help, "; default: ", defaults));
      option->delimiter(',');
      if (axis.most > 0)
        option->type_name(absl::StrCat("INT:[", axis.least, " .. ", axis.most, "]"));
    }
  }
  if (verb->rounds > 0) {
    command->add_option("--rounds", verb->rounds, "Interleaved rounds")
        ->check(InRange(5, 1000))
        ->capture_default_str();
  }
  command->add_flag("--json", verb->json_only, "Only the JSON lines, no table");
  command
      ->add_option("--against", verb->against,
                   "Compare with another build, run in turn with this one, or with a saved run: "
                   "the output of the same verb in a file")
      ->check([](const std::string& text) {
        return text.empty() ? "got '', allowed: a program or a file" : std::string();
      });
  command->callback([=] { *action = [=] { return RunVerb(*verb); }; });
}

}  // namespace

void AddBench(CLI::App& app, VerbAction* action) {
  CLI::App* bench = app.add_subcommand(
      "bench",
      "Measure the speed of this build here. Lists (8,32) are swept, every combination is a case");
  bench->require_subcommand(1);
  AddVerb(bench, action,
          "Tree work of a search, and its signature; with --runner or a CUDA device whole searches "
          "of an engine",
          {TreeSearchTable(), EngineSearchTable()});
  AddVerb(bench, action,
          "The recurrent step beside the machine's peaks; without sizes: the standard table",
          {StepTable()});
  AddVerb(bench, action,
          "One update of the learner on a sampled batch; without sizes: the standard table",
          {TrainTable()});
  AddVerb(bench, action,
          "Load, search and unload an engine again and again: memory after each cycle",
          {UnloadTable()});
  AddVerb(bench, action, "The same searches on another runner as on eager: what differs",
          {ParityTable()});
}

}  // namespace lzero
