// `lzero forgetting`: plays the tasks of a run before and after it learned something else, the same
// episodes with both, and says what of each score is left. Exit codes: 0 ok, 1 failure, 2 usage,
// 3 below min_ratio, 130 interrupted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/dump.h"
#include "lzero/family/tensor_families.h"
#include "lzero/nn/threads.h"
#include "lzero/player/agent_loader.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/statistics/statistics.h"
#include "lzero/train/task/task_metrics.h"
#include "lzero/worker/move_grading.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct ForgettingOptions {
  std::string before, after;  // run folders or checkpoints
  int64_t episodes = 20;      // of each task
  int64_t threads = 1;        // of the network
  bool json = false;
  std::optional<double> min_ratio;  // exit 3 when a task keeps less
};

// What one agent did in a task: its mean return or share of optimal moves, normalised where the
// config has a scale.
struct Played {
  TaskEvaluation evaluation;
  double score = 0.0;
};

struct Kept {
  std::string task;
  Played before, after;
  // All episodes, and all grades, are the same numbers.
  bool is_identical() const {
    const auto same = [](const EvaluatedEpisode& a, const EvaluatedEpisode& b) {
      return a.episode_return == b.episode_return && a.length == b.length;
    };
    return std::ranges::equal(before.evaluation.episodes, after.evaluation.episodes, same) &&
           before.evaluation.grade == after.evaluation.grade;
  }
  std::optional<double> ratio() const {
    if (before.score <= 0.0) return std::nullopt;
    return after.score / before.score;
  }
  bool is_at_least(double min_ratio) const {
    const std::optional<double> kept = ratio();
    return kept.has_value() ? *kept >= min_ratio : after.score >= before.score;
  }
};

absl::StatusOr<Played> Play(const std::string& path, const std::string& task,
                            const ForgettingOptions& options, const std::atomic<bool>* stop,
                            int64_t seed) {
  ThreadPool pool(static_cast<int>(options.threads));
  LoadAgentOptions wanted;
  wanted.make_engine = MakeEngine;
  wanted.task = task;
  wanted.num_threads = options.threads;
  LZ_ASSIGN_OR_RETURN(LoadedAgent agent, LoadAgent(path, MakeRegistry(), wanted, &pool));
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < options.episodes; ++i) {
    seeds.push_back(StreamKey(static_cast<uint64_t>(seed), "eval_verb", static_cast<uint64_t>(i)));
  }
  const auto is_stopped = [stop] { return stop->load(); };
  Evaluator* evaluator = agent.role.evaluator.get();
  Played played;
  LZ_ASSIGN_OR_RETURN(played.evaluation.episodes, evaluator->Run(seeds, {}, is_stopped));
  const ScoreConfig& score = agent.config.score;
  played.score = MeanReturn(played.evaluation.episodes);
  if (score.measure == ScoreMeasure::kGrade) {
    LZ_ASSIGN_OR_RETURN(const auto grader, agent.registry.MakeGrader(agent.config.env.id));
    LZ_ASSIGN_OR_RETURN(const GradeReport report,
                        GradeMoves(*grader, /*with_search=*/true, is_stopped, evaluator));
    played.score = report.optimal_fraction();
    played.evaluation.grade = played.score;
  }
  if (score.is_set()) played.score = score.Normalized(played.score);
  return played;
}

// Whether a difference in this key makes episodes of two configs, or their returns, unlike.
bool MakesAnotherTask(const std::string& key) {
  return absl::StartsWith(key, "score.") || absl::StartsWith(key, "env.settings") ||
         key == "env.id" || key == "env.board_size" || key == "env.max_episode_steps" ||
         key == "env.wrappers" || key == "env.observation";
}

// The tasks of both that have the same name. InvalidArgument when one plays another environment
// there, or counts its returns otherwise.
absl::StatusOr<std::vector<ExperimentConfig>> CommonTasks(const std::string& before,
                                                          const std::string& after) {
  LZ_ASSIGN_OR_RETURN(const std::vector<ExperimentConfig> first, FindTaskConfigs(before));
  LZ_ASSIGN_OR_RETURN(const std::vector<ExperimentConfig> later, FindTaskConfigs(after));
  std::vector<ExperimentConfig> common;
  for (const ExperimentConfig& task : first) {
    const auto same = std::ranges::find(later, task.name, &ExperimentConfig::name);
    if (same == later.end()) continue;
    for (const ConfigDifference& difference : DiffConfigs(task, *same)) {
      if (!MakesAnotherTask(difference.key)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(task.name.empty() ? "the task" : absl::StrCat("task ", task.name), " has ",
                       difference.key, " ", difference.a, " before and ", difference.b, " after"));
    }
    common.push_back(task);
  }
  return common;
}

absl::StatusOr<std::vector<Kept>> PlayAll(const ForgettingOptions& options,
                                          const std::atomic<bool>* stop) {
  // The best checkpoint before, as everywhere; after, what came of it in the end.
  LZ_ASSIGN_OR_RETURN(const std::string before, FindAgentCheckpoint(options.before));
  LZ_ASSIGN_OR_RETURN(const std::string after, FindCheckpoint(options.after));
  LZ_ASSIGN_OR_RETURN(const std::vector<ExperimentConfig> tasks, CommonTasks(before, after));
  LZ_LOG_INFO("before: ", before, "; after: ", after);
  std::vector<Kept> kept;
  for (const ExperimentConfig& config : tasks) {
    LZ_LOG_INFO("playing ", config.name.empty() ? "the task" : config.name, " before and after");
    Kept task = {config.name, {}, {}};
    LZ_ASSIGN_OR_RETURN(task.before, Play(before, config.name, options, stop, config.seed));
    LZ_ASSIGN_OR_RETURN(task.after, Play(after, config.name, options, stop, config.seed));
    kept.push_back(std::move(task));
  }
  if (!kept.empty()) return kept;
  return absl::InvalidArgumentError(
      absl::StrCat(options.after, " has no task of ", options.before));
}

void Print(const ForgettingOptions& options, const std::vector<Kept>& kept) {
  OrderedJson json = OrderedJson::array();
  TextTable table("lrrrl", {"task", "before", "after", "kept", ""});
  std::vector<double> ratios;
  for (const Kept& task : kept) {
    const std::optional<double> ratio = task.ratio();
    if (ratio.has_value()) ratios.push_back(*ratio);
    table.Add({task.task, absl::StrFormat("%.3f", task.before.score),
               absl::StrFormat("%.3f", task.after.score),
               ratio.has_value() ? absl::StrFormat("%.3f", *ratio) : "-",
               task.is_identical() ? "identical" : ""});
    json.push_back({{"task", task.task},
                    {"before", task.before.score},
                    {"after", task.after.score},
                    {"kept", ratio.has_value() ? OrderedJson(*ratio) : OrderedJson(nullptr)},
                    {"identical", task.is_identical()}});
  }
  if (options.json) {
    std::printf("%s\n", json.dump().c_str());
    return;
  }
  std::printf("%s", table.Text().c_str());
  if (ratios.empty()) return;
  std::printf("kept          mean %.3f, worst %.3f of the score before\n", Mean(ratios),
              *std::ranges::min_element(ratios));
}

int Forgetting(const ForgettingOptions& options) {
  const std::atomic<bool>* stop = WatchInterrupts(kEvaluationInterrupt);
  SetTensorThreads(static_cast<int>(options.threads));
  const auto kept = PlayAll(options, stop);
  if (absl::IsCancelled(kept.status())) return kExitInterrupted;
  if (!kept.ok()) {
    const bool is_usage = absl::IsNotFound(kept.status()) || absl::IsInvalidArgument(kept.status());
    return PrintError(kept.status(), is_usage ? kExitUsage : kExitFailure);
  }
  Print(options, *kept);
  const bool is_below =
      options.min_ratio.has_value() && std::ranges::any_of(*kept, [&](const Kept& task) {
        return !task.is_at_least(*options.min_ratio);
      });
  return is_below ? kExitThreshold : kExitOk;
}

}  // namespace

void AddForgetting(CLI::App& app, VerbAction* action) {
  auto* options = Keep<ForgettingOptions>();
  CLI::App* forgetting = app.add_subcommand(
      "forgetting", "Play the tasks of a run before and after it learned something else");
  forgetting->add_option("before", options->before, "Run folder or checkpoint")->required();
  forgetting
      ->add_option("after", options->after, "Run folder or checkpoint with tasks of the same names")
      ->required();
  AddNumber(forgetting, "--episodes", &options->episodes, 1, 100000,
            "Episodes of each task, the same for both");
  forgetting
      ->add_option("--min-ratio", options->min_ratio,
                   "Exit with 3 when a task keeps a smaller share of its score")
      ->check([](const std::string& text) { return NumberError(text, 0.0, 1e6); });
  forgetting->add_flag("--json", options->json, "A JSON list instead of the table");
  AddNumber(forgetting, "--threads", &options->threads, 1, MachineCores(),
            "Threads of the network");
  forgetting->callback([=] { *action = [=] { return Forgetting(*options); }; });
}

}  // namespace lzero
