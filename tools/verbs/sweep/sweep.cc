#include "tools/verbs/sweep/sweep.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/text/printable.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/env/plugin.h"
#include "lzero/env/python/python.h"
#include "lzero/results/run_record.h"
#include "lzero/run/progress.h"
#include "lzero/run/run_folder.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/seed_list.h"
#include "tools/verbs/support/verb_support.h"
#include "tools/verbs/sweep/sweep_folder.h"
#include "tools/verbs/sweep/sweep_grid.h"
#include "tools/verbs/sweep/sweep_runner.h"
#include "tools/verbs/sweep/sweep_table.h"

namespace lzero {
namespace {

constexpr size_t kMostRuns = 10'000;
constexpr double kCheckProgressSeconds = 1.0;  // between two lines: a cell takes 2 ms

// A sweep that may start.
struct SweepDraft {
  SweepIdentity identity;
  std::vector<SweepCell> cells;
  int64_t num_jobs = 1;      // no more than there are runs
  int64_t memory_bytes = 0;  // of the largest run
  int64_t num_threads = 1;   // of the run with most
};

// Everything that is wrong in the combinations, each line once.
class Problems {
 public:
  void Add(absl::string_view message) {
    for (const absl::string_view line : absl::StrSplit(message, '\n')) {
      if (seen_.emplace(line).second) lines_.emplace_back(line);
    }
  }
  absl::Status status() const {
    return lines_.empty() ? absl::OkStatus()
                          : absl::InvalidArgumentError(absl::StrJoin(lines_, "\n"));
  }

 private:
  std::vector<std::string> lines_;
  std::set<std::string> seen_;
};

// "1 run", "2 runs"
std::string Counted(size_t number, const char* what) {
  return absl::StrCat(number, " ", what, number == 1 ? "" : "s");
}

absl::StatusOr<size_t> CountRuns(const SweepGrid& grid, size_t num_seeds) {
  size_t num_runs = num_seeds;
  for (const SweepAxis& axis : grid.axes) {
    if (num_runs <= kMostRuns) num_runs *= axis.values.size();
  }
  if (num_runs <= kMostRuns) return num_runs;
  return absl::InvalidArgumentError(
      absl::StrCat("sweep: too many runs; allowed: ", kMostRuns, " combinations times seeds"));
}

// Loads the config of each cell and fills what depends on them.
absl::Status CheckCells(const SweepOptions& options, const SweepRules& rules,
                        const std::vector<std::string>& fixed, SweepDraft* draft) {
  Problems problems;
  std::map<std::string, std::string> names;  // by what the config says
  double last_progress = MonotonicSeconds();
  for (const SweepCell& cell : draft->cells) {
    if (MonotonicSeconds() - last_progress >= kCheckProgressSeconds) {
      LZ_LOG_INFO("checking combination ", FormatCount(&cell - draft->cells.data() + 1), " of ",
                  FormatCount(std::ssize(draft->cells)));
      last_progress = MonotonicSeconds();
    }
    std::vector<std::string> overrides = fixed;
    overrides.insert(overrides.end(), cell.overrides.begin(), cell.overrides.end());
    overrides.push_back(absl::StrCat("seed=", draft->identity.seeds.back()));
    const auto loaded = LoadConfig(options.config_path, overrides, rules.config);
    if (!loaded.ok()) {
      problems.Add(loaded.status().message());
      continue;
    }
    ExperimentConfig config = loaded->config;
    config.plugins = AbsolutePluginPaths(config.plugins);
    for (ExperimentConfig& task : config.tasks) task.plugins = config.plugins;
    for (EnvConfig* env : EnvConfigsOf(&config)) {
      env->python_path = KeptPythonPath(env->id, env->wrappers, env->python_path);
    }
    const auto [same, is_first] = names.emplace(ResolvedYaml(config), cell.name);
    if (!is_first) {
      problems.Add(absl::StrCat("command line: ", same->second, " and ", cell.name,
                                " are the same settings; allowed: values that differ"));
    }
    LZ_ASSIGN_OR_RETURN(const int64_t bytes, rules.memory_bytes(config));
    draft->memory_bytes = std::max(draft->memory_bytes, bytes);
    draft->num_threads =
        std::max({draft->num_threads, config.train.num_threads.value_or(1),
                  config.inference.num_threads.value_or(1), config.env.num_threads});
    if (names.size() == 1) draft->identity.config = std::move(config);
  }
  return problems.status();
}

absl::Status CheckMachine(const SweepDraft& draft) {
  const int64_t machine_bytes = MachineMemoryBytes();
  if (draft.num_jobs * draft.memory_bytes > machine_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--jobs: ", draft.num_jobs, " runs at a time of up to ",
                     SizeText(draft.memory_bytes), " each need more memory than the ",
                     SizeText(machine_bytes), " of this machine; allowed: 1 to ",
                     std::max<int64_t>(1, machine_bytes / draft.memory_bytes)));
  }
  const int64_t num_cores = MachineCores();
  if (draft.num_jobs * draft.num_threads > num_cores) {
    LZ_LOG_WARNING(Counted(static_cast<size_t>(draft.num_jobs), "run"), " at a time with ",
                   Counted(static_cast<size_t>(draft.num_threads), "thread"), " each on ",
                   num_cores, " cores: they will wait for each other; lower --jobs or num_threads");
  }
  return absl::OkStatus();
}

absl::StatusOr<SweepDraft> DraftSweep(const SweepOptions& options, const SweepRules& rules) {
  const auto begun = ReadSweep(options.config_path);
  if (begun.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sweep: ", options.config_path,
                     " is the folder of a sweep; go on with it:  ", begun->command));
  }
  SweepDraft draft;
  LZ_ASSIGN_OR_RETURN(const SweepGrid grid, ParseSweepGrid(options.overrides));
  LZ_ASSIGN_OR_RETURN(const std::vector<uint64_t> seeds, ParseSeedList(options.seeds));
  LZ_ASSIGN_OR_RETURN(const size_t num_runs, CountRuns(grid, seeds.size()));
  draft.identity.name = std::filesystem::path(options.config_path).stem().string();
  draft.identity.axes = grid.axes;
  draft.identity.seeds.assign(seeds.begin(), seeds.end());
  std::sort(draft.identity.seeds.begin(), draft.identity.seeds.end());
  draft.identity.program = options.program;
  draft.cells = SweepCells(grid.axes);
  draft.num_jobs = std::min<int64_t>(options.num_jobs, static_cast<int64_t>(num_runs));
  LZ_RETURN_IF_ERROR(CheckCells(options, rules, grid.fixed, &draft));
  LZ_RETURN_IF_ERROR(CheckMachine(draft));
  return draft;
}

std::string DefaultFolder(const std::string& name) {
  const std::string base =
      absl::StrCat("runs/sweeps/", SafeFileName(name), "-",
                   absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()));
  std::string folder = base;
  for (int number = 2; FileExists(folder); ++number) folder = absl::StrCat(base, "-", number);
  return folder;
}

// In the order of the table.
std::vector<SweepRun> RunsOf(const SweepDraft& draft, const std::string& folder) {
  std::vector<SweepRun> runs;
  for (const SweepCell& cell : draft.cells) {
    for (const int64_t seed : draft.identity.seeds) {
      const std::string name = absl::StrCat(cell.name, "/seed_", seed);
      const std::string place = JoinPath(folder, name);
      runs.push_back({cell.name, seed, name, cell.overrides, place, place + ".log"});
    }
  }
  return runs;
}

std::string SameCommand(const SweepOptions& options, const std::string& folder) {
  std::vector<std::string> words = {"sweep", options.config_path};
  words.insert(words.end(), options.overrides.begin(), options.overrides.end());
  for (const std::string& word : {std::string("--seeds"), options.seeds, std::string("--jobs"),
                                  absl::StrCat(options.num_jobs), std::string("--out"), folder}) {
    words.push_back(word);
  }
  std::string command = ProgramCommand();
  for (const std::string& word : words) absl::StrAppend(&command, " ", ShellQuoted(word));
  return command;
}

void PrintPlan(const SweepOptions& options, const SweepDraft& draft, const std::string& folder,
               const std::vector<SweepRun>& runs) {
  const int num_cores = MachineCores();
  const bool is_slow = draft.num_jobs == 1 && num_cores > 1 && runs.size() > 1;
  std::printf("sweep         %s x %s: %s, %d at a time%s\n",
              Counted(draft.cells.size(), "combination").c_str(),
              Counted(draft.identity.seeds.size(), "seed").c_str(),
              Counted(runs.size(), "run").c_str(), static_cast<int>(draft.num_jobs),
              is_slow ? absl::StrCat(" (of ", num_cores, " cores, see --jobs)").c_str() : "");
  std::printf("memory        %s planned for each run\n", SizeText(draft.memory_bytes).c_str());
  std::printf("sweep folder  %s\n", PrintableMessage(folder).c_str());
  std::map<RunStanding, int> counts;
  for (const SweepRun& run : runs) {
    const RunStanding standing = StandingOf(run.folder);
    ++counts[standing];
    if (!options.dry_run) continue;
    std::printf("  %-12s %s\n",
                standing == RunStanding::kFinished ? "is finished"
                : standing == RunStanding::kBegun  ? "goes on"
                                                   : "starts",
                run.folder.c_str());
  }
  if (counts[RunStanding::kMissing] < static_cast<int>(runs.size())) {
    std::printf("of them       %d finished, %d to resume, %d to start\n",
                counts[RunStanding::kFinished], counts[RunStanding::kBegun],
                counts[RunStanding::kMissing]);
  }
  std::fflush(stdout);
}

// What came out of each run. One whose result cannot be read counts as failed in `outcome`.
std::vector<SweepResult> ResultsOf(const std::vector<SweepRun>& runs, SweepOutcome* outcome) {
  std::vector<SweepResult> results;
  for (size_t i = 0; i < runs.size(); ++i) {
    RunStanding& standing = outcome->standings[i];
    SweepResult result = {runs[i].cell, runs[i].seed, std::nullopt, "not finished"};
    if (standing == RunStanding::kFailed) {
      result.why_not = absl::StrCat("failed, see ", runs[i].log_path);
    } else if (standing == RunStanding::kFinished) {
      const auto state = ReadResult(runs[i]);
      if (state.ok()) {
        result.state = *state;
      } else {
        standing = RunStanding::kFailed;
        outcome->worst_code = std::max(outcome->worst_code, kExitFailure);
        result.why_not = std::string(state.status().message());
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

int PrintEnd(const SweepDraft& draft, const std::string& folder, const std::vector<SweepRun>& runs,
             SweepOutcome outcome) {
  if (!outcome.is_interrupted) {
    const std::vector<SweepResult> results = ResultsOf(runs, &outcome);
    const bool has_target = TargetOf(draft.identity.config).has_value();
    std::printf("\n%s\n", SweepTable(results, has_target).c_str());
    std::printf("compare       %s compare %s\n", ProgramCommand().c_str(),
                ShellQuoted(folder).c_str());
    std::printf("report        %s report %s --out %s\n", ProgramCommand().c_str(),
                ShellQuoted(folder).c_str(), ShellQuoted(JoinPath(folder, "report.html")).c_str());
  }
  // What is left to do.
  const auto count = [&](RunStanding standing) {
    return std::count(outcome.standings.begin(), outcome.standings.end(), standing);
  };
  const auto num_finished = count(RunStanding::kFinished), num_failed = count(RunStanding::kFailed);
  if (num_finished == std::ssize(runs)) return kExitOk;
  std::printf("%s   %d of %d runs are finished, %d failed; go on with:  %s\n",
              outcome.is_interrupted ? "interrupted" : "unfinished ",
              static_cast<int>(num_finished), static_cast<int>(runs.size()),
              static_cast<int>(num_failed), draft.identity.command.c_str());
  return num_failed > 0 && !outcome.is_interrupted ? outcome.worst_code : kExitInterrupted;
}

// A folder that holds something else is a wrong command; one that cannot be read or written is the
// machine's fault.
int FolderError(const absl::Status& status) {
  return PrintError(status, absl::IsFailedPrecondition(status) ? kExitUsage : kExitFailure);
}

// Makes or opens the folder, which `lock` then holds, and returns the path of the config in it.
absl::StatusOr<std::string> OpenSweepFolder(const std::string& folder, SweepIdentity identity,
                                            std::optional<RunLock>* lock) {
  LZ_RETURN_IF_ERROR(MakeDirectories(folder));
  LZ_ASSIGN_OR_RETURN(*lock, RunLock::Acquire(folder));
  LZ_ASSIGN_OR_RETURN(const auto stored, CheckSweepFolder(folder, identity));
  if (stored.has_value() && stored->program != identity.program) {
    LZ_LOG_WARNING("the sweep was begun by ", stored->program, ", this is ", identity.program,
                   ": the runs may differ in more than their settings");
    identity.program = stored->program;
  }
  return WriteSweep(folder, identity);
}

}  // namespace

int Sweep(const SweepOptions& options, const SweepRules& rules) {
  // Check everything; what is refused leaves nothing behind.
  auto draft = DraftSweep(options, rules);
  if (!draft.ok()) return PrintError(draft.status(), kExitUsage);
  const std::string folder =
      options.out.empty() ? DefaultFolder(draft->identity.name) : WithoutEndSlashes(options.out);
  draft->identity.command = SameCommand(options, folder);
  const auto free = CheckSweepFolder(folder, draft->identity);
  if (!free.ok()) return FolderError(free.status());
  const std::vector<SweepRun> runs = RunsOf(*draft, folder);
  PrintPlan(options, *draft, folder, runs);
  if (options.dry_run) return kExitOk;

  // Open the folder, train, and tell what came out.
  const std::atomic<bool>* stop = WatchInterrupts(kSweepInterrupt);
  std::optional<RunLock> lock;  // until the end
  const auto config_path = OpenSweepFolder(folder, draft->identity, &lock);
  if (!config_path.ok()) return FolderError(config_path.status());
  SweepRunner runner({"/proc/self/exe", options.typed, *config_path, runs, draft->num_jobs}, stop);
  return PrintEnd(*draft, folder, runs, runner.Run());
}

}  // namespace lzero
