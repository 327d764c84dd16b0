#include "tools/verbs/sweep/sweep_runner.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/results/run_record.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/progress.h"
#include "lzero/run/run_folder.h"
#include "lzero/run/status_file.h"
#include "tools/verbs/support/interrupt.h"

namespace lzero {
namespace {

constexpr double kProgressSeconds = 30.0;  // between two lines of progress
constexpr int kPollMilliseconds = 20;
constexpr size_t kShownLines = 5;  // of the log of a run that failed

// The last lines of a log, indented.
std::string LogTail(const std::string& path) {
  const auto content = ReadFile(path);
  if (!content.ok()) return "";
  std::vector<std::string> lines = absl::StrSplit(*content, '\n', absl::SkipWhitespace());
  std::string tail;
  for (size_t i = lines.size() - std::min(lines.size(), kShownLines); i < lines.size(); ++i) {
    absl::StrAppend(&tail, "\n    ", lines[i]);
  }
  return tail;
}

std::string EndText(int code) {
  return code > 128 ? absl::StrCat("killed by signal ", code - 128)
                    : absl::StrCat("exit code ", code);
}

// What became of a finished run, for the line about its end.
std::string ResultText(const TrainingState& state) {
  std::string text = state.solved_env_steps.has_value()
                         ? absl::StrCat("solved after ", FormatCount(*state.solved_env_steps))
                         : absl::StrCat("ended after ", FormatCount(state.env_steps));
  absl::StrAppend(&text, " env steps");
  if (state.last_return.has_value())
    absl::StrAppendFormat(&text, ", return %.2f", *state.last_return);
  if (state.best_return.has_value())
    absl::StrAppendFormat(&text, ", best %.2f", *state.best_return);
  return text;
}

}  // namespace

RunStanding StandingOf(const std::string& folder) {
  // A run that was killed while its folder was made has no manifest, which is written last.
  if (!IsRunFolder(folder)) return RunStanding::kMissing;
  const auto status = ReadStatusFile(folder);
  return status.ok() && status->state == RunState::kFinished ? RunStanding::kFinished
                                                             : RunStanding::kBegun;
}

absl::StatusOr<TrainingState> ReadResult(const SweepRun& run) {
  LZ_ASSIGN_OR_RETURN(const LoadedCheckpoint loaded, ReadCheckpoint(run.folder, {"model"}));
  return TrainingStateFromJson(loaded.content.state_json);
}

double SweepSecondsLeft(const std::vector<double>& remaining, double mean, size_t num_waiting,
                        size_t num_jobs) {
  const double work =
      std::accumulate(remaining.begin(), remaining.end(), mean * static_cast<double>(num_waiting));
  const double longest =
      remaining.empty() ? 0.0 : *std::max_element(remaining.begin(), remaining.end());
  return std::max(longest, work / static_cast<double>(num_jobs));
}

SweepRunner::SweepRunner(SweepPlan plan, const std::atomic<bool>* stop)
    : plan_(std::move(plan)), stop_(stop) {
  for (const SweepRun& run : plan_.runs) outcome_.standings.push_back(StandingOf(run.folder));
}

SweepOutcome SweepRunner::Run() {
  double last_progress = MonotonicSeconds();
  while (true) {
    // Pass the interrupt on once; the children do the rest.
    if (*stop_ && !outcome_.is_interrupted) {
      outcome_.is_interrupted = true;
      for (const Job& job : jobs_) job.process.Interrupt();
    }
    if (!outcome_.is_interrupted) StartRuns();
    Reap();
    if (jobs_.empty() && (outcome_.is_interrupted || next_ == plan_.runs.size())) return outcome_;
    if (MonotonicSeconds() - last_progress >= kProgressSeconds) {
      ShowProgress();
      last_progress = MonotonicSeconds();
    }
    absl::SleepFor(absl::Milliseconds(kPollMilliseconds));
  }
}

void SweepRunner::StartRuns() {
  for (; next_ < plan_.runs.size() && std::cmp_less(jobs_.size(), plan_.num_jobs); ++next_) {
    const SweepRun& run = plan_.runs[next_];
    if (IsInUse(run)) return;
    outcome_.standings[next_] = StandingOf(run.folder);
    if (outcome_.standings[next_] != RunStanding::kFinished) Start(next_);
  }
}

bool SweepRunner::IsInUse(const SweepRun& run) {
  const bool is_in_use = IsRunInUse(run.folder);
  if (is_in_use && !has_said_in_use_) {
    LZ_LOG_INFO("waiting for the process that still writes into ", run.folder);
  }
  has_said_in_use_ = is_in_use;
  return is_in_use;
}

void SweepRunner::Start(size_t index) {
  const SweepRun& run = plan_.runs[index];
  std::vector<std::string> words = {plan_.typed, "resume", run.folder};
  if (outcome_.standings[index] == RunStanding::kMissing) {
    // What a run leaves that was killed while its folder was made.
    if (!IsDirectory(JoinPath(run.folder, "checkpoints"))) RemoveTree(run.folder).IgnoreError();
    words = {plan_.typed, "train",   plan_.config_path, absl::StrCat("seed=", run.seed),
             "--run-dir", run.folder};
    words.insert(words.end(), run.overrides.begin(), run.overrides.end());
  }
  const absl::Status made =
      MakeDirectories(std::filesystem::path(run.folder).parent_path().string());
  auto process = made.ok() ? RunProcess::Start(plan_.program, words, run.log_path) : made;
  if (!process.ok()) return Fail(index, kExitFailure, std::string(process.status().message()));
  outcome_.standings[index] = RunStanding::kBegun;
  jobs_.push_back({index, *std::move(process), MonotonicSeconds()});
}

void SweepRunner::Reap() {
  for (size_t i = 0; i < jobs_.size();) {
    const std::optional<int> code = jobs_[i].process.Poll();
    if (!code.has_value()) {
      ++i;
      continue;
    }
    const Job job = std::move(jobs_[i]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    End(job, *code);
  }
}

void SweepRunner::End(const Job& job, int code) {
  const SweepRun& run = plan_.runs[job.run];
  const double seconds = MonotonicSeconds() - job.start;
  // A run that was interrupted goes on another time. One that did not listen yet is killed by the
  // signal, which gives the same code.
  if (code == kExitInterrupted) return LZ_LOG_INFO(run.name, ": interrupted");
  if (code != kExitOk) return Fail(job.run, code, EndText(code));
  const auto state = ReadResult(run);
  if (!state.ok()) return Fail(job.run, kExitFailure, std::string(state.status().message()));
  outcome_.standings[job.run] = RunStanding::kFinished;
  seconds_.push_back(seconds);
  LZ_LOG_INFO(run.name, ": ", ResultText(*state), ", ", FormatSeconds(seconds), " (",
              Count(RunStanding::kFinished), "/", plan_.runs.size(), ")");
}

void SweepRunner::Fail(size_t index, int code, const std::string& why) {
  const SweepRun& run = plan_.runs[index];
  outcome_.standings[index] = RunStanding::kFailed;
  outcome_.worst_code = std::max(outcome_.worst_code, code);
  LZ_LOG_ERROR(run.name, " failed: ", why, "; ", run.log_path,
               " ends with:", LogTail(run.log_path));
}

void SweepRunner::ShowProgress() const {
  const size_t num_failed = Count(RunStanding::kFailed);
  const std::optional<double> left = SecondsLeft();
  LZ_LOG_INFO("sweep ", Count(RunStanding::kFinished), "/", plan_.runs.size(), " done, ",
              jobs_.size(), " running",
              num_failed > 0 ? absl::StrCat(", ", num_failed, " failed") : "",
              left.has_value() ? absl::StrCat(" | ETA ", FormatSeconds(*left)) : "");
}

size_t SweepRunner::Count(RunStanding standing) const {
  return static_cast<size_t>(
      std::count(outcome_.standings.begin(), outcome_.standings.end(), standing));
}

std::optional<double> SweepRunner::SecondsLeft() const {
  // What each run at work still needs by its own account: until its limit, solved or not.
  const double now = MonotonicSeconds();
  std::vector<double> elapsed, remaining, whole = seconds_;
  for (const Job& job : jobs_) {
    const auto status = ReadStatusFile(plan_.runs[job.run].folder);
    if (!status.ok() || !status->eta_seconds.has_value()) continue;
    elapsed.push_back(now - job.start);
    remaining.push_back(*status->eta_seconds);
    if (seconds_.empty()) whole.push_back(elapsed.back() + remaining.back());
  }
  if (whole.empty()) return std::nullopt;
  // The runs that have ended tell better how long one takes.
  const double mean =
      std::accumulate(whole.begin(), whole.end(), 0.0) / static_cast<double>(whole.size());
  for (size_t i = 0; i < remaining.size(); ++i) {
    if (elapsed[i] < mean) remaining[i] = std::min(remaining[i], mean - elapsed[i]);
  }
  const size_t num_waiting = plan_.runs.size() - next_;
  const auto num_jobs = std::min(static_cast<size_t>(plan_.num_jobs), jobs_.size() + num_waiting);
  return SweepSecondsLeft(remaining, mean, num_waiting, std::max<size_t>(num_jobs, 1));
}

}  // namespace lzero
