// `lzero sweep`: its command line, and what is known here of the runs that it starts.
#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_rules.h"
#include "lzero/train/run_plan.h"
#include "lzero/train/run_rules.h"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/verb_support.h"
#include "tools/verbs/sweep/sweep.h"

namespace lzero {
namespace {

int SweepOfAgents(const SweepOptions& options) {
  const EnvRegistry native = MakeRegistry();
  const auto memory_bytes = [&](const ExperimentConfig& config) -> absl::StatusOr<int64_t> {
    LZ_ASSIGN_OR_RETURN(const EnvRegistry registry, RegistryWithPlugins(config, native));
    LZ_ASSIGN_OR_RETURN(const RunPlan plan, PlanRun(config, registry));
    return plan.memory.total();
  };
  return Sweep(options, {RunRule(native), memory_bytes});
}

}  // namespace

void AddSweep(CLI::App& app, VerbAction* action, const std::vector<std::string>& command_line) {
  auto* options = Keep<SweepOptions>();
  options->typed = command_line[0];
  options->program = absl::StrCat("lzero ", LZERO_VERSION, " (", SourceCommit(), ")");
  CLI::App* sweep = app.add_subcommand(
      "sweep", "Train every combination of settings with several seeds; the same command goes on");
  sweep->add_option("config", options->config_path, "YAML file of all runs")->required();
  sweep->add_option("overrides", options->overrides,
                    "key.path=a,b,c: every value with every other; key.path=value: in all runs. In "
                    "brackets or quotes a comma belongs to a value");
  sweep
      ->add_option("--seeds", options->seeds,
                   "Seeds of each combination: 0..4, or 3, or 0,3,7; more of them may be added "
                   "later")
      ->capture_default_str();
  AddNumber(sweep, "--jobs", &options->num_jobs, 1, 1000,
            "Runs at a time, each a process; the results are the same");
  sweep
      ->add_option("--out", options->out,
                   "Sweep folder, a new one or that of the same sweep, which then goes on "
                   "(default: runs/sweeps/<name>-<utc>)")
      ->check(NotEmpty("a folder"));
  sweep->add_flag("--dry-run", options->dry_run, "Check everything, list the runs, and stop");
  sweep->callback([=] { *action = [=] { return SweepOfAgents(*options); }; });
}

}  // namespace lzero
