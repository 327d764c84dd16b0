// `lzero train` and `lzero resume`: from a config or a run folder to a trained agent. Progress goes
// to stderr and the log, the closing summary to stdout. Exit codes: 0 ok, 1 failure, 2 config
// error, 130 interrupted after a checkpoint.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/printable.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/env/env_rules.h"
#include "lzero/env/plugin.h"
#include "lzero/env/python/python.h"
#include "lzero/player/agent_loader.h"
#include "lzero/player/weight_names.h"
#include "lzero/run/run_folder.h"
#include "lzero/train/plan_text.h"
#include "lzero/train/run_rules.h"
#include "lzero/train/trainer.h"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/run_end.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/stop_report.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

struct TrainOptions {
  std::string config_path;
  std::vector<std::string> overrides;     // "key.path=value"
  std::string task;                       // of several: this one alone
  std::string run_dir;                    // "": runs/<env>/<name>-s<seed>-<utc>
  bool dry_run = false;                   // print the plan and stop
  std::vector<std::string> command_line;  // for the manifest
};

// Sections whose values a resumed run may change without becoming another run.
constexpr const char* kChangeableSections[] = {"stop", "evaluate", "checkpoint"};
// The machine may be another one, and the same environments may have moved to another place.
constexpr const char* kChangeableKeys[] = {"env.num_threads", "train.num_threads",
                                           "inference.num_threads", "env.python_path", "plugins"};
// A run may also get a step cap where its episodes have none: else its evaluations may never end.
constexpr char kStepCap[] = "env.max_episode_steps";

// "stop.*, ..., plugins; env.max_episode_steps where episodes have no cap".
std::string ChangeableText() {
  return absl::StrCat(absl::StrJoin(kChangeableSections, ".*, "), ".*, ",
                      absl::StrJoin(kChangeableKeys, ", "), "; ", kStepCap,
                      " where episodes have no cap");
}

// The key of an override; of a task's, tasks.NAME.key.path, what follows the name.
std::string KeyOf(const std::string& override) {
  const std::string key = override.substr(0, override.find('='));
  if (!absl::StartsWith(key, "tasks.")) return key;
  const size_t end = key.find('.', key.find('.') + 1);
  return end == key.npos ? key : key.substr(end + 1);
}

bool MayChange(const std::string& override) {
  const std::string key = KeyOf(override);
  const std::string section = key.substr(0, key.find('.'));
  return std::count(std::begin(kChangeableSections), std::end(kChangeableSections), section) > 0 ||
         std::count(std::begin(kChangeableKeys), std::end(kChangeableKeys), key) > 0 ||
         key == kStepCap;
}

bool MovesTheEnd(absl::Span<const std::string> overrides) {
  return absl::c_any_of(overrides, [](const std::string& override) {
    return absl::StartsWith(KeyOf(override), "stop.max_");
  });
}

absl::Status AnotherRun(const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("resume: ", what, " would make it another run; allowed: ", ChangeableText()));
}

// Whether the run whose config at `config_path` was, may go on with the step cap of `config`.
absl::Status CheckStepCapChange(const std::string& config_path, const ExperimentConfig& config,
                                const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const LoadedConfig before, LoadConfig(config_path, {}));
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  for (const ExperimentConfig& old : TaskConfigs(before.config)) {
    const auto task = std::ranges::find(tasks, old.name, &ExperimentConfig::name);
    LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(old.env.id, EnvOptionsOf(old.env)));
    const int64_t cap = env->spec().max_episode_steps;
    if (cap == 0 || task->env.max_episode_steps == old.env.max_episode_steps) continue;
    return AnotherRun(absl::StrCat(kStepCap, "=", task->env.max_episode_steps,
                                   ", where episodes end after ", cap, " steps,"));
  }
  return absl::OkStatus();
}

std::string ExperimentName(const std::string& config_path) {
  return std::filesystem::path(config_path).stem().string();
}

absl::StatusOr<RunFolder> MakeRunFolder(const TrainOptions& options,
                                        const ExperimentConfig& config) {
  RunDescription description;
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  description.env_id = tasks.size() > 1 ? "tasks" : tasks[0].env.id;
  description.name = ExperimentName(options.config_path);
  if (!options.task.empty()) absl::StrAppend(&description.name, "-", options.task);
  description.seed = config.seed;
  description.config_path = std::filesystem::absolute(options.config_path).lexically_normal();
  LZ_ASSIGN_OR_RETURN(description.config_text, ReadFile(options.config_path));
  description.resolved_text = ResolvedYaml(config);
  description.version = LZERO_VERSION;
  description.git_commit = SourceCommit();
  description.command_line = options.command_line;
  description.start_time = absl::Now();
  return options.run_dir.empty()
             ? CreateRunFolder("runs", description)
             : CreateRunFolderAt(WithoutEndSlashes(options.run_dir), description, ProgramCommand());
}

// A folder that is taken, not empty or no run is a wrong command; one that cannot be made or
// written is the machine's fault.
int RunFolderExitCode(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ? kExitUsage : kExitFailure;
}

// The folder of the run that `path`, a run folder or one of a run's checkpoints, belongs to.
absl::StatusOr<std::string> FindRunFolder(const std::string& path) {
  const std::string run_dir = TypedRunFolder(path);
  if (run_dir == WithoutEndSlashes(path)) return run_dir;
  std::error_code code;
  LZ_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(run_dir));
  for (const CheckpointPlace& checkpoint : checkpoints) {
    if (std::filesystem::equivalent(checkpoint.path, path, code)) return run_dir;
  }
  return absl::NotFoundError(absl::StrCat("resume: ", path, " is no checkpoint of ", run_dir,
                                          "; allowed: the run folder, or a folder step_N of it"));
}

// How a run without a checkpoint goes on: it was killed before its first, or has lost them.
std::string StartsOverText(const std::string& run_dir) {
  const auto status = ReadStatusFile(run_dir);
  if (!status.ok() || !status->eval_env_steps.has_value()) {
    return ": no checkpoint, from the start";
  }
  return absl::StrCat(": the run had come to ", FormatCount(status->env_steps),
                      " env steps and its checkpoints are gone; from the start");
}

// The run's folder names its plugins and modules wherever it is read from.
ExperimentConfig WithAbsolutePaths(ExperimentConfig config) {
  config.plugins = AbsolutePluginPaths(config.plugins);
  if (config.init.from != kNoRun) {
    config.init.from = std::filesystem::absolute(config.init.from).lexically_normal().string();
  }
  for (ExperimentConfig& task : config.tasks) {
    task.plugins = config.plugins;
    task.init.from = config.init.from;
  }
  for (EnvConfig* env : EnvConfigsOf(&config)) {
    env->python_path = KeptPythonPath(env->id, env->wrappers, env->python_path);
  }
  return config;
}

// A plugin of the run that does not load, and how to name another one.
int PrintPluginError(const absl::Status& status, const std::string& path) {
  PrintError(Annotate(status, "plugins"), kExitUsage);
  std::fprintf(stderr, "go on with another one:  %s resume %s 'plugins=[FILE]'\n",
               ProgramCommand().c_str(), path.c_str());
  return kExitUsage;
}

// A checkpoint that cannot be read, and the whole command that goes on from another one.
int PrintUnreadable(const absl::Status& status, const std::string& path,
                    const std::vector<std::string>& overrides) {
  PrintError(status, kExitFailure);
  const auto damaged = FindCheckpoint(path);
  const auto other = damaged.ok() ? FindOtherIntact(*damaged) : std::nullopt;
  if (absl::IsDataLoss(status) && other.has_value()) {
    std::vector<std::string> command = {ProgramCommand(), "resume", TypedCheckpoint(path, *other)};
    command.insert(command.end(), overrides.begin(), overrides.end());
    std::fprintf(stderr, "go on from it with:  %s\n", absl::StrJoin(command, " ").c_str());
  }
  return kExitFailure;
}

// The first weights from another run, or one of its checkpoints.
absl::Status StartFrom(const std::string& path, Trainer& trainer) {
  if (path == kNoRun) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const std::string checkpoint, FindAgentCheckpoint(path));
  const std::vector<std::string> wanted = {"model"};
  LZ_ASSIGN_OR_RETURN(const LoadedCheckpoint loaded, ReadCheckpoint(checkpoint, wanted));
  return Annotate(trainer.StartFrom(loaded.content), checkpoint);
}

// The config itself, or that of its task `name` as an experiment of its own.
absl::StatusOr<ExperimentConfig> ChooseTask(const ExperimentConfig& config,
                                            const std::string& name) {
  if (name.empty()) return config;
  ExperimentConfig only = config;
  std::erase_if(only.tasks, [&](const ExperimentConfig& task) { return task.name != name; });
  if (only.tasks.empty()) return FindTask(config, name).status();
  // What it has in common with the others means nothing without them.
  ExperimentConfig& task = only.tasks[0];
  task.model.encoder_group = kNoGroup;
  task.multitask.balance = Balance::kNone;
  std::erase_if(task.multitask.freeze,
                [&](const std::string& part) { return part != "shared" && part != name; });
  task.multitask.evaluate_only.clear();
  only.multitask = task.multitask;
  return only;
}

int Train(const TrainOptions& options) {
  // Load config and environments.
  const EnvRegistry native = MakeRegistry();
  const auto loaded = LoadConfig(options.config_path, options.overrides, RunRule(native));
  if (!loaded.ok()) return PrintError(loaded.status(), kExitUsage);
  const auto chosen = ChooseTask(loaded->config, options.task);
  if (!chosen.ok()) return PrintError(Annotate(chosen.status(), "--task"), kExitUsage);
  const ExperimentConfig config = WithAbsolutePaths(*chosen);
  const auto registry = RegistryWithPlugins(config, native);
  if (!registry.ok()) return PrintError(registry.status(), kExitUsage);
  if (!options.run_dir.empty()) {
    const absl::Status free =
        CheckRunFolderAt(WithoutEndSlashes(options.run_dir), ProgramCommand());
    if (!free.ok()) return PrintError(free, RunFolderExitCode(free));
  }
  const std::atomic<bool>* stop = WatchInterrupts(kTrainingInterrupt);
  // Before the run folder is made: what is refused leaves nothing behind.
  auto trainer = Trainer::Create(config, *registry, stop);
  if (!trainer.ok()) {
    if (options.dry_run) std::printf("%s", PlanTextOf(config, *registry).c_str());
    return PrintError(trainer.status(), kExitUsage);
  }
  const absl::Status started = StartFrom(config.init.from, **trainer);
  if (!started.ok()) {
    const auto place = loaded->set_at.find("init.from");
    const std::string where = place == loaded->set_at.end() ? "" : place->second + ": ";
    return PrintError(Annotate(started, where + "init.from"), kExitUsage);
  }
  std::printf("%s", (*trainer)->PlanText(options.dry_run || ShowsDetails()).c_str());
  std::fflush(stdout);
  if (options.dry_run) return kExitOk;

  // Make the run folder and train.
  const auto folder = MakeRunFolder(options, config);
  if (!folder.ok()) return PrintError(folder.status(), RunFolderExitCode(folder.status()));
  auto outputs = RunOutputs::Create(folder->path, config.checkpoint.keep);
  if (!outputs.ok()) return PrintError(outputs.status(), kExitFailure);
  LZ_LOG_INFO("run folder    ", folder->path);
  (*trainer)->WriteTo(*std::move(outputs));
  return RunToEnd(**trainer, {folder->path, config, CanBeGraded(config, *registry)});
}

// Continues the run that `path` means: a run folder from its latest checkpoint, or a checkpoint of
// a run from there, newer ones being set aside (see RewindCheckpoints). `overrides` may change what
// a run may change.
int Resume(const std::string& path, const std::vector<std::string>& overrides) {
  // Refuse overrides that make another run.
  for (const std::string& override : overrides) {
    if (!MayChange(override)) return PrintError(AnotherRun(override), kExitUsage);
  }
  // Open the run folder, its config and its checkpoint.
  const auto found_run = FindRunFolder(path);
  if (!found_run.ok()) return PrintError(found_run.status(), kExitUsage);
  const std::string& run_dir = *found_run;
  const auto folder = OpenRunFolder(run_dir);  // held until the run ends
  if (!folder.ok()) return PrintError(folder.status(), RunFolderExitCode(folder.status()));
  const std::string config_path = JoinPath(run_dir, "config.resolved.yaml");
  const auto loaded = LoadConfig(config_path, overrides);
  if (!loaded.ok()) return PrintError(loaded.status(), kExitUsage);
  const auto checkpoint = ReadCheckpoint(path);
  const bool starts_over = absl::IsNotFound(checkpoint.status()) && IsNeverSaved(run_dir);
  if (!checkpoint.ok() && !starts_over) {
    return PrintUnreadable(checkpoint.status(), path, overrides);
  }

  const ExperimentConfig config = WithAbsolutePaths(loaded->config);
  for (const ConsistencyError& error : ThreadErrors(config, MachineCores())) {
    LZ_LOG_WARNING("slow: ", error.keys[0], ": ", error.message, "; the result stays the same");
  }
  const auto registry = RegistryWithPlugins(config, MakeRegistry());
  if (!registry.ok()) return PrintPluginError(registry.status(), path);
  const auto sets_cap = [](const std::string& override) { return KeyOf(override) == kStepCap; };
  if (std::any_of(overrides.begin(), overrides.end(), sets_cap)) {
    const absl::Status may = CheckStepCapChange(config_path, config, *registry);
    if (!may.ok()) return PrintError(may, kExitUsage);
  }
  // Make the trainer and put it back to the checkpoint.
  const std::atomic<bool>* stop = WatchInterrupts(kTrainingInterrupt);
  auto trainer = Trainer::Create(config, *registry, stop);
  if (!trainer.ok()) return PrintError(trainer.status(), kExitUsage);
  auto outputs = RunOutputs::Create(run_dir, config.checkpoint.keep);
  if (!outputs.ok()) return PrintError(outputs.status(), kExitFailure);
  (*trainer)->WriteTo(*std::move(outputs));
  const std::string source = starts_over ? run_dir : TypedCheckpoint(path, checkpoint->path);
  const absl::Status restored =
      starts_over ? (*trainer)->StartOver() : (*trainer)->Restore(checkpoint->content);
  if (!restored.ok()) return PrintError(Annotate(restored, source), kExitFailure);
  if (starts_over) {
    const absl::Status started = StartFrom(config.init.from, **trainer);
    if (!started.ok()) return PrintError(Annotate(started, "init.from"), kExitFailure);
  }
  // Store what was overridden, and go on.
  if (!overrides.empty()) {
    const absl::Status written = WriteFileAtomic(config_path, ResolvedYaml(config));
    if (!written.ok()) return PrintError(written, kExitFailure);
  }
  LZ_LOG_INFO("resuming      ", source, starts_over ? StartsOverText(run_dir) : "");
  if (MovesTheEnd(overrides) &&
      config.train.learning_rate_schedule != LearningRateSchedule::kConstant) {
    LZ_LOG_INFO("learning rate falls towards the new end: not the same run as one begun with it");
  }
  Session session = {run_dir, config, CanBeGraded(config, *registry)};
  if (!starts_over) session.start = TrainingStateFromJson(checkpoint->content.state_json).value();
  return RunToEnd(**trainer, session);
}

}  // namespace

void AddTrain(CLI::App& app, VerbAction* action, const std::vector<std::string>& command_line) {
  auto* options = Keep<TrainOptions>();
  options->command_line = command_line;
  CLI::App* train = app.add_subcommand("train", "Train an agent from a config");
  train
      ->add_option("config", options->config_path,
                   "YAML file, e.g. configs/classic/cartpole_unizero.yaml")
      ->required();
  train->add_option("overrides", options->overrides,
                    "key.path=value, e.g. seed=1 train.batch_size=32");
  train
      ->add_option("--run-dir", options->run_dir,
                   "Run folder (default: runs/<env>/<name>-s<seed>-<utc>)")
      ->check(NotEmpty("a folder"));
  train->add_option("--task", options->task, "Train this task of the config alone");
  train->add_flag("--dry-run", options->dry_run,
                  "Check everything, print the plan with runner and memory, and stop");
  AddVerbose(train);
  train->callback([=] { *action = [=] { return Train(*options); }; });

  auto* run = Keep<std::string>();
  auto* overrides = Keep<std::vector<std::string>>();
  CLI::App* resume =
      app.add_subcommand("resume", "Continue a run exactly where its last checkpoint is");
  resume
      ->add_option("run", *run,
                   "Run folder, or RUN/checkpoints/step_N to go on from there; what is newer is "
                   "renamed to step_N.aside")
      ->required();
  resume->add_option("overrides", *overrides, absl::StrCat("key.path=value of ", ChangeableText()));
  AddVerbose(resume);
  resume->callback([=] { *action = [=] { return Resume(*run, *overrides); }; });
}

}  // namespace lzero
