// `lzero inspect`: what a checkpoint is of and where its run stands, its counters and files, and
// whether every file is intact; `--tensors` lists the model's.
#include <cstdio>
#include <filesystem>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "lzero/base/files.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/base/text/printable.h"
#include "lzero/config/load.h"
#include "lzero/config/schema.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/run_folder.h"
#include "lzero/run/status_file.h"
#include "lzero/run/training_state.h"
#include "tools/verbs/player/player_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

void PrintLine(const char* what, const std::string& fact) {
  if (!fact.empty()) std::printf("%-13s %s\n", what, EscapedForMessage(fact).c_str());
}

void PrintFile(const std::string& name, const std::vector<NamedArray>& arrays) {
  int64_t bytes = 0, numbers = 0;
  for (const NamedArray& array : arrays) {
    bytes += static_cast<int64_t>(array.bytes.size());
    numbers += array.num_elements();
  }
  PrintLine("file", absl::StrFormat("%s.safetensors: %d arrays, %d numbers, %s", name,
                                    arrays.size(), numbers, SizeText(bytes)));
}

void PrintTensors(const std::vector<NamedArray>& arrays) {
  for (const NamedArray& array : arrays) {
    std::printf("  %-44s %s [%s]\n", array.name.c_str(),
                std::string(ArrayTypeName(array.type)).c_str(),
                absl::StrJoin(array.shape, ", ").c_str());
  }
}

// Where the run in `run_dir` stands; `run` as the user typed it.
std::string StateText(const RunStatus& status, const std::string& run_dir, const std::string& run) {
  const bool is_gone = !IsRunInUse(run_dir);
  std::string text(RunStateName(status.state));
  if (status.state == RunState::kRunning && is_gone) {
    return absl::StrCat("was running, but its process ", status.process_id,
                        " is gone; go on with:  ", ProgramCommand(), " resume ", run);
  }
  if (status.state == RunState::kRunning) absl::StrAppend(&text, ", process ", status.process_id);
  if (!status.message.empty()) absl::StrAppend(&text, ": ", status.message);
  return absl::StrCat(
      text, " (", absl::FormatTime("%Y-%m-%d %H:%M:%S", status.updated_time, absl::UTCTimeZone()),
      " UTC)");
}

// What manifest.json and status.json of the run tell; a checkpoint may lie without them.
absl::Status PrintRun(const std::string& run_dir, const std::string& run) {
  const std::string manifest = JoinPath(run_dir, "manifest.json");
  if (!FileExists(manifest)) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(manifest));
  LZ_ASSIGN_OR_RETURN(const JsonReader json,
                      JsonReader::Parse(text, {manifest, absl::StatusCode::kDataLoss}));
  std::string name, commit;
  json.Read("name", &name);
  json.MaybeRead("git_commit", &commit);
  LZ_RETURN_IF_ERROR(json.status());
  PrintLine("config", name);
  PrintLine("commit", commit);
  const auto status = ReadStatusFile(run_dir);
  PrintLine("state", status.ok() ? StateText(*status, run_dir, run)
                                 : std::string(status.status().message()));
  return absl::OkStatus();
}

void PrintState(const TrainingState& state) {
  PrintLine("env steps", absl::StrCat(state.env_steps));
  PrintLine("updates", absl::StrCat(state.updates));
  PrintLine("episodes", absl::StrCat(state.episodes));
  PrintLine("wall time", absl::StrFormat("%.1f s", state.wall_seconds));
  std::string evaluation;
  if (state.last_return.has_value()) evaluation = absl::StrFormat("last %.2f", *state.last_return);
  if (state.best_return.has_value()) {
    absl::StrAppendFormat(&evaluation, ", best %.2f", *state.best_return);
  }
  PrintLine(state.tasks.size() > 1 ? "mean score" : "mean return", evaluation);
}

// The tasks of a run, each with its environment and, once there is a checkpoint, its counters.
void PrintTasks(const ExperimentConfig& config, const TrainingState* state) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::string text = absl::StrCat(tasks[i].name, ": ", tasks[i].env.id);
    if (state != nullptr && i < state->tasks.size()) {
      const TaskState& task = state->tasks[i];
      absl::StrAppend(&text, ", ", task.env_steps, " env steps, ", task.updates, " updates");
      if (task.last_return.has_value()) {
        absl::StrAppendFormat(&text, ", mean return %.2f", *task.last_return);
      }
    }
    PrintLine("task", text);
  }
}

// A run that ended before its first checkpoint: what is known of it.
void PrintUnsaved(const std::string& path) {
  const std::string run_dir = TypedRunFolder(path);
  const auto config = LoadConfig(JoinPath(run_dir, "config.resolved.yaml"), {});
  if (!config.ok()) return;
  if (config->config.tasks.empty()) PrintLine("environment", config->config.env.id);
  if (!config->config.tasks.empty()) PrintTasks(config->config, nullptr);
  PrintLine("family", ValueText(config->config, "model.family"));
  PrintLine("seed", absl::StrCat(config->config.seed));
  const absl::Status told = PrintRun(run_dir, run_dir);
  if (!told.ok()) PrintLine("state", std::string(told.message()));
  PrintLine("log", JoinPath(run_dir, "log.txt"));
  std::fflush(stdout);
}

// `path`: a run folder (its latest checkpoint) or a checkpoint. Exit codes: 0 intact, 1 damaged,
// 2 not found; of a run without a checkpoint its state is told.
int Inspect(const std::string& path, bool tensors) {
  // Everything is read and checked before the first word.
  const auto loaded = ReadCheckpoint(path);
  if (!loaded.ok()) {
    if (absl::IsNotFound(loaded.status())) PrintUnsaved(path);
    return PrintError(loaded.status(),
                      absl::IsNotFound(loaded.status()) ? kExitUsage : kExitFailure);
  }
  const auto state = TrainingStateFromJson(loaded->content.state_json);
  if (!state.ok()) return PrintError(state.status(), kExitFailure);
  const auto config = ParseResolvedConfig(loaded->content.config_yaml,
                                          JoinPath(loaded->path, "config.resolved.yaml"));
  if (!config.ok()) return PrintError(config.status(), kExitFailure);
  // What it is of.
  std::string settings = ValueText(*config, "env.settings");
  if (settings == "{}") settings.clear();
  if (config->tasks.empty()) {
    PrintLine("environment", absl::StrCat(config->env.id, settings.empty() ? "" : " ", settings));
  } else {
    PrintTasks(*config, &*state);
  }
  PrintLine("family", ValueText(*config, "model.family"));
  PrintLine("seed", absl::StrCat(config->seed));
  const auto run_dir = std::filesystem::path(loaded->path).parent_path().parent_path();
  const absl::Status told = PrintRun(run_dir.string(), TypedRunFolder(path));
  if (!told.ok()) return PrintError(told, kExitFailure);
  // How far it is.
  PrintLine("checkpoint", absl::StrCat(loaded->path, " (every file intact)"));
  PrintState(*state);
  for (const auto& [name, arrays] : loaded->content.files) PrintFile(name, arrays);
  const auto model = loaded->content.files.find("model");
  if (tensors && model != loaded->content.files.end()) PrintTensors(model->second);
  return kExitOk;
}

}  // namespace

void AddInspect(CLI::App& app, VerbAction* action) {
  auto* path = Keep<std::string>();
  auto* tensors = Keep<bool>();
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Show what a run or checkpoint is, how far it is, and check every file");
  inspect->add_option("path", *path, "Run folder or checkpoint")->required();
  inspect->add_flag("--tensors", *tensors, "Also list the tensors of the model");
  inspect->callback([=] { *action = [=] { return Inspect(*path, *tensors); }; });
}

}  // namespace lzero
