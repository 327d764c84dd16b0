#include "tools/verbs/eval_verb.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/config/scalar_text.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/agent_loader.h"
#include "lzero/train/run_outputs.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/eval_chance.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

absl::StatusOr<std::vector<uint64_t>> ParseSeeds(const EvalOptions& options, int64_t run_seed) {
  std::vector<uint64_t> seeds;
  if (options.seeds.empty()) {
    for (int64_t i = 0; i < options.episodes; ++i) {
      seeds.push_back(
          StreamKey(static_cast<uint64_t>(run_seed), "eval_verb", static_cast<uint64_t>(i)));
    }
    return seeds;
  }
  const size_t dots = options.seeds.find("..");
  uint64_t first = 0, last = 0;
  const auto read = [](const std::string& text, uint64_t* seed) {
    return SeedError(text).empty() && absl::SimpleAtoi(text, seed);
  };
  if (dots == std::string::npos || !read(options.seeds.substr(0, dots), &first) ||
      !read(options.seeds.substr(dots + 2), &last) || last < first || last - first >= 100000) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seeds: got ", QuotedForMessage(options.seeds),
                     ", allowed: A..B with A <= B, at most 100,000 seeds"));
  }
  for (uint64_t i = 0; i <= last - first; ++i) seeds.push_back(first + i);
  return seeds;
}

absl::Status RenderStep(std::FILE* stream, Env& env, const TimeStep& seen) {
  LZ_ASSIGN_OR_RETURN(const std::string picture, env.RenderText());
  std::fprintf(stream, "%s\n", picture.c_str());
  std::fprintf(stream, "return %g%s\n\n", seen.episode_return,
               seen.terminated  ? "  (terminated)"
               : seen.truncated ? "  (truncated)"
                                : "");
  return absl::OkStatus();
}

// Paths are bytes; JSON is UTF-8.
void PrintJson(const OrderedJson& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
}

OrderedJson SummaryToJson(const LoadedAgent& agent, const ReturnSummary& summary) {
  return {{"checkpoint", agent.checkpoint_path},
          {"env", agent.config.env.id},
          {"env_steps", agent.env_steps},
          {"simulations", agent.num_simulations},
          {"episodes", summary.num_episodes},
          {"return_mean", summary.mean},
          {"return_median", summary.median},
          {"return_iqm", summary.interquartile_mean},
          {"return_iqm_95", {summary.interval.low, summary.interval.high}},
          {"return_min", summary.min},
          {"return_max", summary.max},
          {"length_mean", summary.mean_length}};
}

// The line that tells how far an evaluation has got, now and then.
class EvaluationProgress {
 public:
  explicit EvaluationProgress(size_t num_asked) : num_asked_(num_asked) {}

  void Add(const EvaluatedEpisode& episode) {
    ++num_finished_;
    return_sum_ += episode.episode_return;
  }
  void ShowIfDue() {
    const double now = MonotonicSeconds();
    if (now - last_time_ < kProgressSeconds) return;
    last_time_ = now;
    std::string line = absl::StrCat("episodes ", num_finished_, "/", num_asked_);
    if (num_finished_ > 0) {
      const double mean = return_sum_ / static_cast<double>(num_finished_);
      absl::StrAppendFormat(&line, " | mean return so far %.2f", mean);
    }
    LZ_LOG_INFO(line);
  }

 private:
  static constexpr double kProgressSeconds = 2.0;

  size_t num_asked_;
  size_t num_finished_ = 0;
  double return_sum_ = 0.0;
  double last_time_ = MonotonicSeconds();
};

// A remark on games for two players; `path` is what the user evaluated.
void PrintSelfPlayRemark(const std::string& path, bool can_be_graded) {
  std::printf("self-play     the return is that of player 0, %s\n", kNoMeasureOfStrength);
  if (can_be_graded) {
    std::printf("grade         %s eval %s --grade\n", ProgramCommand().c_str(), path.c_str());
  }
}

void PrintTable(const LoadedAgent& agent, const ReturnSummary& summary) {
  std::printf("checkpoint    %s\n", agent.checkpoint_path.c_str());
  std::printf("environment   %s, %d simulations a move\n", agent.config.env.id.c_str(),
              static_cast<int>(agent.num_simulations));
  std::printf("episodes      %d, mean length %.1f\n", static_cast<int>(summary.num_episodes),
              summary.mean_length);
  std::printf("return        mean %.2f, median %.2f, min %.2f, max %.2f\n", summary.mean,
              summary.median, summary.min, summary.max);
  std::printf("IQM           %.2f (95%% interval %.2f .. %.2f)\n", summary.interquartile_mean,
              summary.interval.low, summary.interval.high);
}

// What --render shows of environment 0.
class EvaluationView {
 public:
  // Standard output belongs to the one JSON object.
  explicit EvaluationView(const EvalOptions& options) : stream_(options.json ? stderr : stdout) {}

  absl::Status Open(const EvalOptions& options, const EnvSpec& spec) {
    format_ = options.picture.format;
    if (format_ != "gif") return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(recorder_, PictureRecorder::Create(options.picture, options.picture_path,
                                                           spec, {kMostPictures}));
    return absl::OkStatus();
  }

  bool prints_text() const { return format_ == "text"; }

  void Show(Env& env, const TimeStep& seen) {
    if (prints_text() && error_.ok()) error_ = RenderStep(stream_, env, seen);
    if (recorder_ != nullptr && error_.ok()) error_ = recorder_->Add(env, seen.ended());
  }

  // What went wrong with a picture; the evaluation may end then.
  const absl::Status& error() const { return error_; }

  absl::Status Finish() {
    if (recorder_ == nullptr) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const std::string written, recorder_->Finish());
    std::fprintf(stream_, "pictures      %s%s\n", written.c_str(),
                 recorder_->is_full() ? ", the first ones only" : "");
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kMostPictures = 1000;

  std::FILE* stream_;
  std::string format_;
  std::unique_ptr<PictureRecorder> recorder_;
  absl::Status error_;
};

int PlayEpisodes(const EvalOptions& options, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto seeds = ParseSeeds(options, agent.config.seed);
  if (!seeds.ok()) return PrintError(seeds.status(), kExitUsage);
  // Play.
  EvaluationView view(options);
  const absl::Status opened = view.Open(options, agent.role.evaluator->spec());
  if (!opened.ok()) return PrintError(opened, kExitFailure);
  EvaluationProgress progress(seeds->size());
  const auto poll = [&] {
    if (!view.prints_text()) progress.ShowIfDue();
    return stop->load() || !view.error().ok();
  };
  const auto episodes = agent.role.evaluator->Run(
      *seeds, [&](Env& env, const TimeStep& seen) { view.Show(env, seen); }, poll,
      [&](const EvaluatedEpisode& episode) { progress.Add(episode); });
  // Why it stopped early.
  if (!view.error().ok()) {
    const bool is_usage = absl::IsUnimplemented(view.error());
    return PrintError(view.error(), is_usage ? kExitUsage : kExitFailure);
  }
  if (absl::IsCancelled(episodes.status())) return kExitInterrupted;
  if (!episodes.ok()) return PrintError(episodes.status(), kExitFailure);
  // Report.
  const ReturnSummary summary = SummarizeEpisodes(ToRows(*episodes), 0);
  if (options.json) {
    PrintJson(SummaryToJson(agent, summary));
  } else {
    PrintTable(agent, summary);
    if (agent.role.evaluator->spec().num_players == 2) {
      const bool can_be_graded = agent.registry.MakeGrader(agent.config.env.id).ok();
      PrintSelfPlayRemark(WithoutEndSlashes(options.path), can_be_graded);
    }
  }
  const absl::Status written = view.Finish();
  if (!written.ok()) return PrintError(written, kExitFailure);
  if (options.min_return.has_value() && summary.mean < *options.min_return) {
    std::fprintf(stderr, "mean return %.2f is below --min-return %g\n", summary.mean,
                 *options.min_return);
    return kExitThreshold;
  }
  return kExitOk;
}

OrderedJson CountsToJson(const GradeCounts& counts) {
  return {{"positions", counts.num_positions},
          {"optimal", counts.num_optimal},
          {"optimal_fraction", counts.optimal_fraction()},
          {"nontrivial", counts.num_nontrivial},
          {"nontrivial_optimal", counts.num_nontrivial_optimal}};
}

OrderedJson GradeToJson(const char* player, const GradeReport& grade) {
  OrderedJson blunders = OrderedJson::array();
  for (const Blunder& blunder : grade.blunders) {
    blunders.push_back({{"position", blunder.position},
                        {"action", blunder.action},
                        {"optimal", blunder.optimal_actions},
                        {"value_lost", blunder.value_lost}});
  }
  OrderedJson json = {{"player", player}};
  json.update(CountsToJson(grade));
  if (grade.has_lines()) {
    json["lines_as_first"] = grade.num_lines_as_first;
    json["lines_as_second"] = grade.num_lines_as_second;
    json["lost_lines_as_first"] = grade.lost_lines_as_first;
    json["lost_lines_as_second"] = grade.lost_lines_as_second;
  }
  for (const GradeGroup& group : grade.groups) {
    OrderedJson counts = {{"name", group.name}};
    counts.update(CountsToJson(group));
    json["groups"].push_back(counts);
  }
  json["blunders"] = blunders;
  return json;
}

// One line without its end.
void PrintCounts(const char* name, const GradeCounts& counts) {
  std::printf("%-18s  optimal moves %d of %d (%.2f %%), non-trivial %d of %d", name,
              static_cast<int>(counts.num_optimal), static_cast<int>(counts.num_positions),
              100.0 * counts.optimal_fraction(), static_cast<int>(counts.num_nontrivial_optimal),
              static_cast<int>(counts.num_nontrivial));
}

void PrintGrade(const char* player, const GradeReport& grade) {
  PrintCounts(player, grade);
  if (grade.has_lines()) {
    std::printf(
        "; lines lost as first %d of %d, as second %d of %d",
        static_cast<int>(grade.lost_lines_as_first), static_cast<int>(grade.num_lines_as_first),
        static_cast<int>(grade.lost_lines_as_second), static_cast<int>(grade.num_lines_as_second));
  }
  std::printf("\n");
  for (const GradeGroup& group : grade.groups) {
    PrintCounts(absl::StrCat("  ", group.name).c_str(), group);
    std::printf("\n");
  }
}

// What the agent does in `positions`, some at a time: Cancelled once the user wants to stop.
absl::StatusOr<std::vector<int32_t>> ChooseUntilStopped(LoadedAgent& agent,
                                                        absl::Span<const TimeStep> positions,
                                                        bool with_search,
                                                        const std::atomic<bool>* stop) {
  constexpr size_t kAtOnce = 64;
  std::vector<int32_t> actions;
  for (size_t begin = 0; begin < positions.size(); begin += kAtOnce) {
    if (stop->load()) return absl::CancelledError("interrupted");
    LZ_ASSIGN_OR_RETURN(
        const std::vector<int32_t> chosen,
        agent.role.evaluator->ChooseActions(positions.subspan(begin, kAtOnce), with_search));
    actions.insert(actions.end(), chosen.begin(), chosen.end());
  }
  return actions;
}

int Grade(const EvalOptions& options, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto grader = agent.registry.MakeGrader(agent.config.env.id);
  if (!grader.ok()) return PrintError(grader.status(), kExitUsage);
  // Grade the agent with search, then its policy head alone.
  OrderedJson players = OrderedJson::array();
  for (const bool with_search : {true, false}) {
    const auto grade = (*grader)->Grade([&](absl::Span<const TimeStep> positions) {
      return ChooseUntilStopped(agent, positions, with_search, stop);
    });
    if (absl::IsCancelled(grade.status())) return kExitInterrupted;
    if (!grade.ok()) return PrintError(grade.status(), kExitFailure);
    const std::string player =
        with_search ? absl::StrCat("search ", agent.num_simulations) : "policy alone";
    if (options.json) {
      players.push_back(GradeToJson(player.c_str(), *grade));
    } else {
      PrintGrade(player.c_str(), *grade);
    }
  }
  if (options.json) {
    PrintJson({{"checkpoint", agent.checkpoint_path},
               {"env", agent.config.env.id},
               {"env_steps", agent.env_steps},
               {"simulations", agent.num_simulations},
               {"players", players}});
  }
  return kExitOk;
}

int Chance(const EvalOptions& options, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto seeds = ParseSeeds(options, agent.config.seed);
  if (!seeds.ok()) return PrintError(seeds.status(), kExitUsage);
  return EvalChance(*seeds, options.json, agent, stop);
}

// An agent that cannot be loaded; of a damaged checkpoint with the command for an intact one.
int PrintUnreadable(const absl::Status& status, const std::string& path) {
  PrintError(status, kExitFailure);
  const auto damaged = FindAgentCheckpoint(path);
  const auto other = damaged.ok() ? FindOtherIntact(*damaged) : std::nullopt;
  if (absl::IsDataLoss(status) && other.has_value()) {
    std::fprintf(stderr, "evaluate it with:  %s eval %s\n", ProgramCommand().c_str(),
                 TypedCheckpoint(path, *other).c_str());
  }
  return absl::IsNotFound(status) ? kExitUsage : kExitFailure;
}

absl::Status CheckUsage(const EvalOptions& options) {
  LZ_RETURN_IF_ERROR(CheckPictureOptions(options.picture, {"text", "gif"}));
  if (options.picture_path.empty() || options.picture.format == "gif") return absl::OkStatus();
  return absl::InvalidArgumentError("--out is the file of an animation; add --render gif");
}

}  // namespace

int Eval(const EvalOptions& options) {
  const absl::Status usage = CheckUsage(options);
  if (!usage.ok()) return PrintError(usage, kExitUsage);
  // Before the agent is loaded: a signal then is answered too.
  const std::atomic<bool>* stop = WatchInterrupts(kEvaluationInterrupt);
  SetTensorThreads(static_cast<int>(options.threads));
  ThreadPool pool(static_cast<int>(options.threads));
  // Load the agent, or say how it could be loaded.
  LoadAgentOptions wanted;
  wanted.simulations = options.simulations;
  if (options.grade) wanted.num_envs = 64;
  if (!options.device.empty()) {
    wanted.device = options.device == "cuda" ? Device::kCuda : Device::kCpu;
  }
  wanted.plugins = options.plugins;
  auto agent = LoadAgent(options.path, MakeRegistry(), wanted, &pool);
  if (!agent.ok()) {
    const bool wants_device = absl::StartsWith(agent.status().message(), "inference.device: cuda");
    if (wants_device && options.device.empty()) {
      return PrintUnreadable(
          Annotate(agent.status(), "the run is of a CUDA device; add --device cpu to play it here"),
          options.path);
    }
    if (absl::StartsWith(agent.status().message(), "plugins: ")) {
      PrintError(agent.status(), kExitUsage);
      std::fprintf(stderr, "evaluate it with another one:  %s eval %s --plugin FILE\n",
                   ProgramCommand().c_str(), options.path.c_str());
      return kExitUsage;
    }
    return PrintUnreadable(agent.status(), options.path);
  }
  // Run what was asked for.
  if (options.grade) return Grade(options, *agent, stop);
  return options.chance ? Chance(options, *agent, stop) : PlayEpisodes(options, *agent, stop);
}

}  // namespace lzero
