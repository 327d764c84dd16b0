#include "lzero/results/run_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/base/text/natural_order.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/run/run_folder.h"
#include "lzero/run/status_file.h"
#include "lzero/run/training_state.h"

namespace lzero {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";

absl::Status ReadManifest(RunRecord* run) {
  const std::string path = JoinPath(run->path, kManifest);
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  LZ_ASSIGN_OR_RETURN(const JsonReader json,
                      JsonReader::Parse(text, {path, absl::StatusCode::kDataLoss}));
  json.Read("name", &run->name);
  json.Read("lzero_version", &run->version);
  json.MaybeRead("git_commit", &run->git_commit);
  json.Read("start_time", &run->start_time);
  json.Read("command_line", &run->command_line);
  return json.status();
}

absl::Status ReadConfig(RunRecord* run) {
  const std::string path = JoinPath(run->path, "config.resolved.yaml");
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto config = ParseResolvedConfig(text, path);
  if (!config.ok()) return absl::DataLossError(config.status().message());
  run->config = *config;
  return absl::OkStatus();
}

absl::Status ReadState(RunRecord* run) {
  const auto status = ReadStatusFile(run->path);
  if (!status.ok() && !absl::IsNotFound(status.status())) return status.status();
  const RunState state = status.ok() ? status->state : RunState::kRunning;
  run->state = std::string(RunStateName(state));
  if (state == RunState::kRunning && !IsRunInUse(run->path)) run->state = "stopped";
  if (!status.ok()) return absl::OkStatus();  // killed before its first line
  run->message = status->message;
  run->env_steps = status->env_steps;
  return absl::OkStatus();
}

// The last "time/wall_seconds" near the end of metrics.jsonl; 0 if there is none, as in a
// deterministic run.
double LastWallSeconds(const std::string& run_dir) {
  constexpr int64_t kTail = 64 << 10;
  const std::string key = "\"time/wall_seconds\":";
  const auto file = OpenFile::Open(JoinPath(run_dir, "metrics.jsonl"), O_RDONLY);
  if (!file.ok()) return 0.0;
  std::error_code code;
  const auto size = static_cast<int64_t>(fs::file_size(file->path(), code));
  if (code || ::lseek(file->descriptor(), std::max<int64_t>(0, size - kTail), SEEK_SET) < 0) {
    return 0.0;
  }
  std::string tail(static_cast<size_t>(kTail), '\0');
  const auto got = file->Read(absl::MakeSpan(tail));
  tail.resize(got.ok() ? *got : 0);
  const size_t at = tail.rfind(key);
  if (at == tail.npos) return 0.0;
  const size_t begin = at + key.size();
  double seconds = 0.0;
  const std::string number = tail.substr(begin, tail.find_first_of(",}", begin) - begin);
  return absl::SimpleAtod(number, &seconds) ? seconds : 0.0;
}

// Times; a run without a checkpoint has none.
absl::Status ReadTimes(RunRecord* run) {
  run->wall_seconds = LastWallSeconds(run->path);
  const std::string path = JoinPath(run->path, "checkpoints/latest/state.json");
  if (!FileExists(path)) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto state = TrainingStateFromJson(text);
  if (!state.ok()) return DamagedFile(path, state.status().message());
  run->wall_seconds = std::max(run->wall_seconds, state->wall_seconds);
  run->solved_wall_seconds = state->solved_wall_seconds;
  run->is_self_play = state->last_return.has_value() && !state->best_return.has_value();
  return absl::OkStatus();
}

void AddRuns(const fs::path& folder, std::vector<std::string>* runs) {
  if (IsRunFolder(folder.string())) {
    runs->push_back(folder.string());
    return;
  }
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    std::error_code unreadable;
    if (entry.is_directory(unreadable) && !entry.is_symlink(unreadable)) {
      AddRuns(entry.path(), runs);
    }
  }
}

}  // namespace

bool IsRunFolder(const std::string& path) { return FileExists(JoinPath(path, kManifest)); }

absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& root) {
  if (!FileExists(root)) return absl::NotFoundError(absl::StrCat("no such folder: ", root));
  if (!IsDirectory(root)) {
    return absl::NotFoundError(absl::StrCat(root,
                                            " is a file; allowed: a run folder or a folder "
                                            "with run folders in it"));
  }
  std::vector<std::string> runs;
  AddRuns(root, &runs);
  std::sort(runs.begin(), runs.end(), NaturalLess);
  return runs;
}

absl::StatusOr<RunRecord> ReadRun(const std::string& path) {
  RunRecord run;
  run.path = path;
  LZ_RETURN_IF_ERROR(ReadManifest(&run));
  LZ_RETURN_IF_ERROR(ReadConfig(&run));
  LZ_RETURN_IF_ERROR(ReadState(&run));
  LZ_RETURN_IF_ERROR(ReadTimes(&run));
  LZ_ASSIGN_OR_RETURN(run.evaluations, ReadEvaluations(path));
  return run;
}

std::string ConfigWithoutSeed(const ExperimentConfig& config) {
  std::string yaml = ResolvedYaml(config);
  const size_t line = yaml.find("\nseed: ") + 1;
  return yaml.erase(line, yaml.find('\n', line) + 1 - line);
}

std::string EnvironmentOf(const ExperimentConfig& config) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  if (tasks.size() > 1) {
    return absl::StrCat("tasks ",
                        absl::StrJoin(tasks, ", ", [](std::string* out, const auto& task) {
                          out->append(task.name);
                        }));
  }
  if (!config.tasks.empty()) return EnvironmentOf(config.tasks[0]);
  std::string text = config.env.id;
  if (config.env.board_size != 0) absl::StrAppend(&text, " board_size=", config.env.board_size);
  for (const auto& [name, value] : config.env.settings)
    absl::StrAppend(&text, " ", name, "=", value);
  if (config.env.max_episode_steps != 0) {
    absl::StrAppend(&text, " max_episode_steps=", config.env.max_episode_steps);
  }
  return text;
}

std::optional<double> TargetOf(const ExperimentConfig& config) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  const bool is_return = tasks[0].score.measure == ScoreMeasure::kReturn;
  return tasks.size() == 1 && is_return ? tasks[0].stop.target_return : std::nullopt;
}

double FinalReturn(const RunRecord& run) {
  LZ_CHECK(!run.evaluations.empty(), run.path, " has no evaluation");
  return run.evaluations.back().mean;
}

double BestReturn(const RunRecord& run) {
  LZ_CHECK(!run.evaluations.empty(), run.path, " has no evaluation");
  return std::max_element(run.evaluations.begin(), run.evaluations.end(),
                          [](const auto& a, const auto& b) { return a.mean < b.mean; })
      ->mean;
}

std::optional<int64_t> StepsToTarget(const RunRecord& run, double target, int64_t patience) {
  int64_t streak = 0;
  for (const EvaluationSummary& evaluation : run.evaluations) {
    streak = evaluation.mean >= target ? streak + 1 : 0;
    if (streak >= patience) return evaluation.env_steps;
  }
  return std::nullopt;
}

}  // namespace lzero
