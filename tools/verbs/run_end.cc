#include "tools/verbs/run_end.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/text/printable.h"
#include "lzero/run/checkpoint_store.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/stop_report.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

// Whether the run that goes on from `start` has met its stop rule before it made a step.
bool HasDoneNothing(const std::optional<TrainingState>& start, const TrainOutcome& outcome) {
  return start.has_value() && start->env_steps == outcome.state.env_steps &&
         start->updates == outcome.state.updates && outcome.reason != StopReason::kInterrupted;
}

// What became of each task, and the score of all.
void PrintTasks(const TrainingState& state) {
  TextTable table("lrrrrl", {"task", "env steps", "updates", "return", "score", "solved"});
  for (const TaskState& task : state.tasks) {
    std::string mean = "-", score = "-", solved = "-";
    if (task.last_return.has_value()) mean = absl::StrFormat("%.2f", *task.last_return);
    if (task.last_score.has_value()) score = absl::StrFormat("%.2f", *task.last_score);
    if (task.solved_env_steps.has_value()) {
      solved = absl::StrCat("after ", FormatCount(*task.solved_env_steps));
    }
    table.Add(
        {task.name, FormatCount(task.env_steps), FormatCount(task.updates), mean, score, solved});
  }
  std::printf("%s", table.Text().c_str());
  if (!state.last_return.has_value()) return;
  std::printf("mean score    %.2f", *state.last_return);
  if (state.best_return.has_value()) std::printf(" (best %.2f)", *state.best_return);
  std::printf("\n");
}

void PrintReturn(const ExperimentConfig& config, const TrainOutcome& outcome) {
  const TrainingState& state = outcome.state;
  if (config.score.measure == ScoreMeasure::kGrade && !state.tasks.empty() &&
      state.tasks[0].last_score.has_value()) {
    std::printf("evaluation    score %.2f, by the share of optimal moves\n",
                *state.tasks[0].last_score);
  } else if (state.last_return.has_value() && outcome.num_players == 2) {
    std::printf("evaluation    self-play return %.2f of player 0, %s\n", *state.last_return,
                kNoMeasureOfStrength);
  } else if (state.last_return.has_value()) {
    std::printf("evaluation    mean return %.2f", *state.last_return);
    if (state.best_return.has_value()) std::printf(" (best %.2f)", *state.best_return);
    std::printf("\n");
  }
}

// Whether the task was solved, and why not.
void PrintSolved(const ExperimentConfig& config, const TrainOutcome& outcome) {
  const TrainingState& state = outcome.state;
  if (state.solved_env_steps.has_value()) {
    std::printf("solved        after %s env steps, %.1f s\n",
                FormatCount(*state.solved_env_steps).c_str(), *state.solved_wall_seconds);
  }
  const std::string not_solved = NotSolvedText(config.stop, state);
  if (!not_solved.empty() && outcome.reason == StopReason::kLimit) {
    std::printf("not solved    %s\n", not_solved.c_str());
  }
  const std::string nothing_learned = NothingLearnedText(config.train, state);
  if (!nothing_learned.empty() && outcome.reason == StopReason::kLimit) {
    std::printf("nothing learned  %s\n", nothing_learned.c_str());
  }
}

void PrintSummary(const Session& session, const TrainOutcome& outcome) {
  const TrainingState& state = outcome.state;
  const std::vector<ExperimentConfig> tasks = TaskConfigs(session.config);
  const std::string resume =
      absl::StrCat(ProgramCommand(), " resume ", ShellQuoted(session.run_dir));
  if (HasDoneNothing(session.start, outcome)) {
    std::printf("nothing to do: %s\n", tasks.size() > 1
                                           ? "every task is at the end of what `stop` asks for"
                                           : MetStopRuleText(tasks[0].stop, state, resume).c_str());
  }
  // What was done.
  std::printf("\n%s env steps, %s updates, %s episodes in %s\n",
              FormatCount(state.env_steps).c_str(), FormatCount(state.updates).c_str(),
              FormatCount(state.episodes).c_str(), FormatSeconds(state.wall_seconds).c_str());
  if (tasks.size() > 1) {
    PrintTasks(state);
  } else {
    PrintSolved(tasks[0], outcome);
    PrintReturn(tasks[0], outcome);
  }
  // Where the run is and what can be done with it.
  std::printf("run folder    %s\n", EscapedForMessage(session.run_dir).c_str());
  if (outcome.reason == StopReason::kInterrupted) {
    std::printf("interrupted   go on with:  %s\n", resume.c_str());
  } else {
    const std::string typed = ShellQuoted(session.run_dir);
    const bool is_graded = session.can_be_graded && outcome.num_players == 2;
    std::printf("evaluate      %s eval %s%s\n", ProgramCommand().c_str(), typed.c_str(),
                tasks.size() > 1 ? absl::StrCat(" --task ", tasks[0].name).c_str()
                : is_graded      ? " --grade"
                                 : "");
    std::printf("curves        tensorboard --logdir %s/tb   (pip install tensorboard)\n",
                typed.c_str());
  }
}

// What to do about an error that ended a run; "" where the same would come again.
std::string HowToGoOn(const absl::Status& error, const std::string& run_dir) {
  if (absl::IsAborted(error)) return "";  // a loss that is not finite
  const bool is_full = absl::StrContains(error.message(), std::strerror(ENOSPC));
  if (!is_full && IsNeverSaved(run_dir)) return "nothing was saved: mend that and train anew\n";
  return absl::StrCat(is_full ? "free space, then go on with:  " : "go on with:  ",
                      ProgramCommand(), " resume ", ShellQuoted(run_dir), "\n");
}

}  // namespace

bool CanBeGraded(const ExperimentConfig& config, const EnvRegistry& registry) {
  const auto entry = registry.Find(TaskConfigs(config)[0].env.id);
  return entry.ok() && (*entry)->grader != nullptr;
}

bool IsNeverSaved(const std::string& run_dir) {
  const auto checkpoints = ListCheckpoints(run_dir);
  return checkpoints.ok() && checkpoints->empty();
}

int RunToEnd(Trainer& trainer, const Session& session) {
  MarkRunWhenStopped(session.run_dir);
  const absl::StatusOr<TrainOutcome> outcome = trainer.Run();
  if (!outcome.ok()) {
    LZ_LOG_ERROR(outcome.status().message());
    std::fprintf(stderr, "run folder: %s\n%s", EscapedForMessage(session.run_dir).c_str(),
                 HowToGoOn(outcome.status(), session.run_dir).c_str());
    return kExitFailure;
  }
  PrintSummary(session, *outcome);
  return outcome->reason == StopReason::kInterrupted ? kExitInterrupted : kExitOk;
}

}  // namespace lzero
