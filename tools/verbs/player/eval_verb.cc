// `lzero eval`: plays a checkpoint greedily and prints a table or JSON; `--grade` judges every
// position of a solved game, `--chance` a model of chance (eval_measures.h). Exit codes: 0 ok,
// 1 failure, 2 usage, 3 below min_return, 130 interrupted.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/player/agent_loader.h"
#include "lzero/player/episode_rows.h"
#include "lzero/worker/imagination.h"
#include "tools/verbs/player/eval_measures.h"
#include "tools/verbs/player/player_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/seed_list.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

constexpr int64_t kSideBySide = 64;         // positions that are judged at a time
constexpr int64_t kImaginedActions = 4096;  // of all games that are imagined at a time

struct EvalOptions {
  PlayerEngines engines;
  std::string path;  // run folder (its best checkpoint, else latest) or checkpoint
  int64_t episodes = 20;
  std::string seeds;                   // "A..B", instead of `episodes`
  std::optional<int64_t> simulations;  // null: as the run evaluates
  std::vector<std::string> settings;   // "key=value", see LoadAgentOptions
  // text: after every step; gif: an animation of all episodes, 1,000 pictures at most.
  PictureOptions picture;
  std::string picture_path;          // of the gif; "": DefaultPicturePath
  bool json = false;                 // one JSON object on stdout instead of the table
  std::optional<double> min_return;  // exit 3 when the mean return is lower
  bool grade = false;
  bool chance = false;
  bool imagination = false;
  std::optional<int64_t> threads;    // of networks (null: as the run) and environments (null: 1)
  std::string device;                // "": as the run; cpu, cuda
  std::string task;                  // of a run of several
  std::vector<std::string> plugins;  // in place of the run's, if there are any
};

absl::StatusOr<std::vector<uint64_t>> ParseSeeds(const EvalOptions& options, int64_t run_seed) {
  if (!options.seeds.empty()) return ParseSeedList(options.seeds);
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < options.episodes; ++i) {
    seeds.push_back(
        StreamKey(static_cast<uint64_t>(run_seed), "eval_verb", static_cast<uint64_t>(i)));
  }
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

// A remark on games for two players; `path` is what the user evaluated.
void PrintSelfPlayRemark(const std::string& path, bool can_be_graded) {
  std::printf("self-play     the return is that of player 0, %s\n", kNoMeasureOfStrength);
  if (can_be_graded) {
    std::printf("grade         %s eval %s --grade\n", ProgramCommand().c_str(), path.c_str());
  }
}

// What --render shows: the episodes one after another.
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
    if (recorder_ == nullptr || !error_.ok() || recorder_->is_full()) return;
    error_ = recorder_->Add(env, seen.ended());
    if (seen.ended()) ++num_whole_episodes_;
  }

  // What went wrong with a picture; the evaluation may end then.
  const absl::Status& error() const { return error_; }

  absl::Status Finish(size_t num_episodes) {
    if (recorder_ == nullptr) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const std::string written, recorder_->Finish());
    std::fprintf(stream_, "pictures      %s, episodes: %s\n", written.c_str(),
                 ShownEpisodesText(num_whole_episodes_, num_episodes).c_str());
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kMostPictures = 10000;

  std::FILE* stream_;
  std::string format_;
  std::unique_ptr<PictureRecorder> recorder_;
  size_t num_whole_episodes_ = 0;
  absl::Status error_;
};

int PlayEpisodes(const EvalOptions& options, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto seeds = ParseSeeds(options, agent.config.seed);
  if (!seeds.ok()) return PrintError(seeds.status(), kExitUsage);
  // Play.
  EvaluationView view(options);
  const absl::Status opened = view.Open(options, agent.role.evaluator->spec());
  if (!opened.ok()) return PrintError(opened, ExitCodeOf(opened));
  ProgressClock progress;
  int64_t num_finished = 0;
  double return_sum = 0.0;
  const auto poll = [&] {
    if (!view.prints_text() && progress.IsDue()) {
      const std::string mean = absl::StrFormat(" | mean return so far %.2f",
                                               return_sum / static_cast<double>(num_finished));
      LZ_LOG_INFO("episodes ", num_finished, "/", seeds->size(), num_finished > 0 ? mean : "");
    }
    return stop->load() || !view.error().ok();
  };
  const auto episodes = agent.role.evaluator->Run(
      *seeds, [&](Env& env, const TimeStep& seen) { view.Show(env, seen); }, poll,
      [&](const EvaluatedEpisode& episode) {
        ++num_finished;
        return_sum += episode.episode_return;
      });
  // Why it stopped early.
  if (!view.error().ok()) {
    const bool is_usage = absl::IsUnimplemented(view.error());
    return PrintError(view.error(), is_usage ? kExitUsage : kExitFailure);
  }
  if (absl::IsCancelled(episodes.status())) return kExitInterrupted;
  if (!episodes.ok()) return PrintError(episodes.status(), kExitFailure);
  // Report.
  const std::vector<EpisodeRow> rows = ToRows(*episodes);
  const ReturnSummary summary = SummarizeEpisodes(rows, 0);
  PrintReturns(options.json, agent, summary, rows);
  if (!options.json && agent.role.evaluator->spec().num_players == 2) {
    const bool can_be_graded = agent.registry.MakeGrader(agent.config.env.id).ok();
    PrintSelfPlayRemark(WithoutEndSlashes(options.path), can_be_graded);
  }
  const absl::Status written = view.Finish(seeds->size());
  if (!written.ok()) return PrintError(written, kExitFailure);
  if (options.min_return.has_value() && summary.mean < *options.min_return) {
    std::fprintf(stderr, "mean return %.2f is below --min-return %g\n", summary.mean,
                 *options.min_return);
    return kExitThreshold;
  }
  return kExitOk;
}

int Chance(const EvalOptions& options, LoadedAgent& agent, const std::atomic<bool>* stop) {
  const auto seeds = ParseSeeds(options, agent.config.seed);
  if (!seeds.ok()) return PrintError(seeds.status(), kExitUsage);
  return EvalChance(*seeds, options.json, agent, stop);
}

int Imagination(const EvalOptions& options, LoadAgentOptions wanted, LoadedAgent& agent,
                ThreadPool* pool, const std::atomic<bool>* stop) {
  const auto seeds = ParseSeeds(options, agent.config.seed);
  if (!seeds.ok()) return PrintError(seeds.status(), kExitUsage);
  // Room for every imagined move, of fewer games at a time where a game has many moves.
  const int64_t num_actions = agent.role.evaluator->spec().action.num_actions;
  wanted.simulations = ImaginedNodes(num_actions, kImaginedDepth);
  wanted.num_envs = std::clamp<int64_t>(kImaginedActions / num_actions, 1, wanted.num_envs);
  auto roomy = LoadAgent(options.path, MakeRegistry(), wanted, pool);
  if (!roomy.ok()) return PrintError(roomy.status(), kExitFailure);
  return EvalImagination(*seeds, options.json, *roomy, stop);
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
  LZ_RETURN_IF_ERROR(ParseSeeds(options, /*run_seed=*/0).status());
  LZ_RETURN_IF_ERROR(CheckPictureOptions(options.picture, {"text", "gif"}));
  for (const std::string& setting : options.settings) {
    if (!options.imagination || !absl::StartsWith(setting, "search.num_simulations=")) continue;
    return absl::InvalidArgumentError(setting + ": --imagination makes no search; leave it out");
  }
  if (options.picture_path.empty() || options.picture.format == "gif") return absl::OkStatus();
  return absl::InvalidArgumentError("--out is the file of an animation; add --render gif");
}

int EvalOne(const EvalOptions& options) {
  // Before the agent is loaded: a signal then is answered too.
  const std::atomic<bool>* stop = WatchInterrupts(kEvaluationInterrupt);
  const int num_threads = static_cast<int>(options.threads.value_or(1));
  options.engines.set_threads(num_threads);
  ThreadPool pool(num_threads);
  // Load the agent, or say how it could be loaded.
  LoadAgentOptions wanted;
  wanted.make_engine = options.engines.make_engine;
  wanted.packed_alone = options.engines.packed_alone;
  wanted.num_threads = options.threads;
  wanted.simulations = options.simulations;
  if (options.grade || options.imagination) wanted.num_envs = kSideBySide;
  if (!options.picture.format.empty()) wanted.num_envs = 1;  // episode after episode
  if (!options.device.empty()) wanted.device = ParseDevice(options.device).value();
  wanted.settings = options.settings;
  wanted.task = options.task;
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
    if (absl::StartsWith(agent.status().message(), "task: ") ||
        absl::StartsWith(agent.status().message(), "settings: ")) {
      return PrintError(agent.status(), kExitUsage);
    }
    return PrintUnreadable(agent.status(), options.path);
  }
  // Run what was asked for.
  if (options.grade) return EvalGrade(options.json, *agent, stop);
  if (options.imagination) return Imagination(options, wanted, *agent, &pool, stop);
  return options.chance ? Chance(options, *agent, stop) : PlayEpisodes(options, *agent, stop);
}

// A run of several tasks is played task by task, where what is asked for makes sense for each.
int Eval(const EvalOptions& options) {
  const absl::Status usage = CheckUsage(options);
  if (!usage.ok()) return PrintError(usage, kExitUsage);
  const bool is_of_one = !options.task.empty() || !options.picture.format.empty() ||
                         options.grade || options.chance || options.imagination ||
                         options.min_return.has_value();
  const auto tasks = FindTaskConfigs(options.path);
  if (is_of_one || !tasks.ok() || tasks->size() == 1) return EvalOne(options);
  int code = kExitOk;
  for (size_t i = 0; i < tasks->size() && code == kExitOk; ++i) {
    EvalOptions one = options;
    one.task = (*tasks)[i].name;
    if (!options.json) std::printf("%stask          %s\n", i == 0 ? "" : "\n", one.task.c_str());
    code = EvalOne(one);
  }
  return code;
}

struct EpisodeFlags {
  CLI::Option *episodes, *seeds, *simulations, *render, *min_return;
};

// What is measured in the place of returns.
void AddMeasures(CLI::App* eval, EvalOptions* options, const EpisodeFlags& of_episodes) {
  CLI::Option* grade =
      eval->add_flag(
              "--grade", options->grade,
              "Judge moves in positions with known best ones, of a solved game; plays no episodes")
          ->excludes(of_episodes.episodes)
          ->excludes(of_episodes.seeds)
          ->excludes(of_episodes.render)
          ->excludes(of_episodes.min_return);
  eval->add_flag("--chance", options->chance,
                 "Compare the chance outcomes that the model foretells with those that the "
                 "environment lists, at every step of the episodes")
      ->excludes(of_episodes.render)
      ->excludes(of_episodes.min_return)
      ->excludes(grade);
  eval->add_flag(
          "--imagination", options->imagination,
          "Games for two players: how many of the moves that win at once are foreseen, 1 to 4 "
          "imagined steps behind the positions of random games")
      ->excludes(of_episodes.simulations)
      ->excludes(of_episodes.render)
      ->excludes(of_episodes.min_return)
      ->excludes(grade);
}

}  // namespace

void AddEval(CLI::App& app, VerbAction* action, const PlayerEngines& engines) {
  auto* options = Keep<EvalOptions>();
  options->engines = engines;
  CLI::App* eval = app.add_subcommand("eval", "Play a checkpoint greedily and report its return");
  eval->add_option("path", options->path,
                   "Run folder (its best checkpoint; of a game for two players the newest "
                   "evaluated one) or a checkpoint")
      ->required();
  eval->add_option("settings", options->settings, "key=value of search or inference");
  // What is played.
  CLI::Option* episodes =
      AddNumber(eval, "--episodes", &options->episodes, 1, 100000, "Episodes to play");
  CLI::Option* seeds =
      eval->add_option("--seeds", options->seeds, "One episode for each: A..B, or 0,3,7")
          ->excludes(episodes);
  CLI::Option* simulations =
      AddNumber(eval, "--sims", &options->simulations, 1, SearchConfig::kMostSimulations,
                "Simulations a move (default: as in the run)");
  // What is shown and reported.
  CLI::Option* render =
      eval->add_option("--render", options->picture.format,
                       "text: show every step (with --json on stderr); gif: an animation of all "
                       "episodes, one after another");
  eval->add_option("--out", options->picture_path, "File of the gif (default: <environment>.gif)");
  AddPictureOptions(eval, &options->picture);
  eval->add_flag("--json", options->json, "One JSON object instead of the table");
  CLI::Option* min_return = eval->add_option("--min-return", options->min_return,
                                             "Exit with 3 when the mean return is lower")
                                ->check([](const std::string& text) {
                                  constexpr double kEnd = std::numeric_limits<double>::infinity();
                                  return NumberError(text, -kEnd, kEnd);
                                });
  AddMeasures(eval, options, {episodes, seeds, simulations, render, min_return});
  // Where it runs.
  AddNumber(eval, "--threads", &options->threads, 1, MachineCores(),
            "Threads of the network (default: as in the run)");
  AddDevice(eval, &options->device);
  AddTask(eval, &options->task);
  AddPlugins(eval, &options->plugins, "Library with environments, in place of the run's");
  AddVerbose(eval);
  eval->callback([=] { *action = [=] { return Eval(*options); }; });
}

}  // namespace lzero
