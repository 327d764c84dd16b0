// `lzero match A B`: two players of a board game against each other, checkpoints among them; who is
// stronger, and by how much. Exit codes: 0 ok, 1 failure, 2 usage, 3 below min_score, 130
// interrupted (the score so far is told).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "envs/boards/grading/judged_side.h"
#include "envs/boards/players/match.h"
#include "envs/boards/players/opponents.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/env_rules.h"
#include "lzero/player/agent_loader.h"
#include "lzero/player/agent_side.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/player/player_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/match_player.h"
#include "tools/verbs/support/match_report.h"
#include "tools/verbs/support/run_path.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

struct MatchOptions {
  PlayerEngines engines;
  std::string first;  // see match_player.h
  std::string second;
  std::string env_id;                 // of two players that are no checkpoints
  std::vector<std::string> settings;  // "name=value" of that environment
  int64_t num_games = 100;
  uint64_t seed = 0;
  std::optional<int64_t> opening_plies;  // null: 2 with a checkpoint, else 0
  std::optional<int64_t> threads;        // of networks (null: as the run), of others (null: 1)
  std::string device;                    // "": as the run; cpu, cuda
  std::string task;                      // of a run of several
  bool judge = false;                    // compare moves with perfect ones
  std::array<std::vector<std::string>, 2> agent_settings;  // "name=value" of a checkpoint's config
  bool json = false;
  std::optional<double> min_score;  // exit 3 when A takes a smaller part of the points
};

constexpr int64_t kAgentOpeningPlies = 2;
constexpr int kMostTables = 64;  // games at a time; what a checkpoint's searches hold memory for

// A player that can be asked for moves.
struct SeatedPlayer {
  MatchPlayer player;
  std::unique_ptr<LoadedAgent> agent;  // null: none
  std::unique_ptr<MatchSide> side;
};
using SeatedPlayers = std::array<SeatedPlayer, 2>;

// Which game is played, and in which environment.
struct MatchGame {
  EnvRegistry registry;
  std::string id;
  EnvOptions options;
  std::vector<std::string> settings;  // "name=value"
};

absl::Status CheckUsage(const MatchOptions& options, const SeatedPlayers& seats) {
  const bool has_agent = seats[0].player.is_agent() || seats[1].player.is_agent();
  if (has_agent && !options.env_id.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--env ", options.env_id, ": a checkpoint plays the game of its run; leave ",
                     "--env out, it is for two players that are no checkpoints"));
  }
  if (has_agent && !options.settings.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.settings[0], ": a checkpoint plays the game of its run; settings are ",
                     "for --env and two players that are no checkpoints; how it plays: --a or --b "
                     "before each"));
  }
  if (!has_agent && options.env_id.empty()) {
    return absl::InvalidArgumentError(
        "which game? none of the players is a checkpoint; name it, as in --env connect4");
  }
  for (size_t i = 0; i < seats.size(); ++i) {
    if (seats[i].player.is_agent() || options.agent_settings[i].empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", i == 0 ? "a " : "b ", options.agent_settings[i][0], ": ",
                     i == 0 ? options.first : options.second, " is no checkpoint"));
  }
  if (options.num_games % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--games ", options.num_games,
                                                   ": games come in pairs, with colors swapped; ",
                                                   "allowed: an even number"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LoadedAgent>> LoadPlayer(const MatchPlayer& player,
                                                        const MatchOptions& options,
                                                        const std::vector<std::string>& settings,
                                                        ThreadPool* pool) {
  LoadAgentOptions wanted;
  wanted.settings = settings;
  wanted.make_engine = options.engines.make_engine;
  wanted.packed_alone = options.engines.packed_alone;
  wanted.num_threads = options.threads;
  wanted.simulations = player.simulations;
  if (player.simulations == 0) wanted.simulations = 1;  // that is not made
  wanted.num_envs = std::min<int64_t>(kMostTables, options.num_games);
  if (!options.device.empty()) wanted.device = ParseDevice(options.device).value();
  // The other player may be of a run of one task, of whatever name.
  const auto tasks = FindTaskConfigs(player.path);
  LZ_RETURN_IF_ERROR(Annotate(tasks.status(), player.name));
  if (tasks->size() > 1) wanted.task = options.task;
  auto agent = LoadAgent(player.path, MakeRegistry(), wanted, pool);
  LZ_RETURN_IF_ERROR(Annotate(agent.status(), player.name));
  return std::make_unique<LoadedAgent>(*std::move(agent));
}

// The settings of a run's game that are not the defaults.
absl::StatusOr<std::map<std::string, std::string>> OwnSettings(const LoadedAgent& agent) {
  const EnvOptions options = EnvOptionsOf(agent.config.env);
  std::map<std::string, std::string> own = options.settings;
  if (options.board_size != 0) own["board_size"] = absl::StrCat(options.board_size);
  LZ_ASSIGN_OR_RETURN(const EnvRegistry::Entry* entry, agent.registry.Find(agent.config.env.id));
  for (const EnvSetting& setting : entry->settings) {
    const auto found = own.find(setting.name);
    if (found != own.end() && found->second == setting.default_text) own.erase(found);
  }
  return own;
}

absl::StatusOr<MatchGame> GameOf(const LoadedAgent& agent) {
  MatchGame game;
  game.registry = agent.registry;
  game.id = agent.config.env.id;
  game.options = EnvOptionsOf(agent.config.env);
  game.options.random_opening_fraction = 0.0;
  LZ_ASSIGN_OR_RETURN(const auto settings, OwnSettings(agent));
  for (const auto& [name, value] : settings) {
    game.settings.push_back(absl::StrCat(name, "=", value));
  }
  return game;
}

absl::StatusOr<MatchGame> ChooseGame(const MatchOptions& options, const SeatedPlayers& seats) {
  if (seats[0].agent == nullptr && seats[1].agent == nullptr) {
    LZ_ASSIGN_OR_RETURN(const EnvOptions env_options,
                        OptionsOf({options.env_id, {}, options.settings}));
    return MatchGame{MakeRegistry(), options.env_id, env_options, options.settings};
  }
  const SeatedPlayer& one = seats[0].agent != nullptr ? seats[0] : seats[1];
  LZ_ASSIGN_OR_RETURN(MatchGame game, GameOf(*one.agent));
  if (seats[0].agent == nullptr || seats[1].agent == nullptr) return game;
  LZ_ASSIGN_OR_RETURN(const MatchGame other, GameOf(*seats[1].agent));
  if (game.id == other.id && game.settings == other.settings) return game;
  return absl::InvalidArgumentError(
      absl::StrCat("the checkpoints play different games: ", seats[0].player.name, " plays ",
                   GameText(game.id, game.settings), ", ", seats[1].player.name, " plays ",
                   GameText(other.id, other.settings)));
}

absl::Status Seat(const MatchOptions& options, uint64_t index, const std::atomic<bool>* stop,
                  ThreadPool* pool, SeatedPlayer* seat) {
  if (seat->agent != nullptr) {
    const bool with_search = seat->player.simulations != 0;
    seat->side = std::make_unique<AgentSide>(seat->agent->role.evaluator.get(), with_search);
    return absl::OkStatus();
  }
  LZ_ASSIGN_OR_RETURN(seat->side, MakeOpponentSide(seat->player.name,
                                                   StreamKey(options.seed, "match player", index),
                                                   pool, [stop] { return stop->load(); }));
  return absl::OkStatus();
}

MatchReport::Side Describe(const SeatedPlayer& seat, const std::vector<std::string>& settings) {
  MatchReport::Side side;
  side.name = seat.player.name;
  if (seat.agent == nullptr) return side;
  const std::string moves = seat.player.simulations == 0
                                ? "the policy head alone"
                                : absl::StrCat(seat.agent->num_simulations, " simulations a move");
  side.description =
      absl::StrCat(moves, settings.empty() ? "" : ", ", absl::StrJoin(settings, ", "), ", ",
                   TypedCheckpoint(seat.player.path, seat.agent->checkpoint_path));
  side.is_deterministic = true;
  return side;
}

void LogProgress(const MatchScore& score, int64_t num_games) {
  std::string line = absl::StrCat("games ", score.num_games(), "/", num_games);
  if (score.num_games() > 0) {
    absl::StrAppendFormat(&line, " | score of A so far %.1f %%", 100.0 * score.points_fraction());
  }
  LZ_LOG_INFO(line);
}

int PrintReport(const MatchOptions& options, const MatchReport& report) {
  if (options.json) {
    std::printf("%s\n", MatchJson(report).c_str());
  } else {
    std::printf("%s", MatchTable(report).c_str());
  }
  if (report.result.is_stopped) return kExitInterrupted;
  const double score = report.result.total().points_fraction();
  if (options.min_score.has_value() && score < *options.min_score) {
    std::fflush(stdout);
    std::fprintf(stderr, "A takes %.4g of the points, below --min-score %g\n", score,
                 *options.min_score);
    return kExitThreshold;
  }
  return kExitOk;
}

absl::Status LoadPlayers(const MatchOptions& options, ThreadPool* pool, SeatedPlayers* seats) {
  for (size_t i = 0; i < seats->size(); ++i) {
    SeatedPlayer& seat = (*seats)[i];
    if (!seat.player.is_agent()) continue;
    LZ_ASSIGN_OR_RETURN(seat.agent,
                        LoadPlayer(seat.player, options, options.agent_settings[i], pool));
  }
  const auto plays_it = [&options](const auto& seat) {
    return seat.agent != nullptr && seat.agent->config.name == options.task;
  };
  if (!options.task.empty() && std::ranges::none_of(*seats, plays_it)) {
    return absl::NotFoundError(absl::StrCat("--task: no player is of a task '", options.task, "'"));
  }
  return absl::OkStatus();
}

bool IsLadder(const MatchOptions& options) {
  return options.second == kLadderName && !FileExists(options.second);
}

absl::Status ParsePlayers(const MatchOptions& options, SeatedPlayers* seats) {
  LZ_ASSIGN_OR_RETURN((*seats)[0].player, ParseMatchPlayer(options.first));
  const std::string second = IsLadder(options) ? LadderRungs().front() : options.second;
  LZ_ASSIGN_OR_RETURN((*seats)[1].player, ParseMatchPlayer(second));
  if (IsLadder(options) && (options.min_score.has_value() || options.judge)) {
    return absl::InvalidArgumentError(absl::StrCat(options.judge ? "--judge" : "--min-score",
                                                   " is for two players; the ladder has many"));
  }
  return CheckUsage(options, *seats);
}

// The table at which every match of one call is played.
struct MatchHall {
  const MatchOptions& options;
  MatchGame game;
  std::unique_ptr<BoardEnv> env;
  MoveJudge judge;  // null unless asked for
  ThreadPool* pool;
  const std::atomic<bool>* stop;
};

absl::StatusOr<MatchReport> Play(const MatchHall& hall, SeatedPlayers& seats) {
  const MatchOptions& options = hall.options;
  MatchReport report;
  report.game = GameText(hall.game.id, hall.game.settings);
  const bool has_agent = seats[0].agent != nullptr || seats[1].agent != nullptr;
  report.plan.num_games = options.num_games;
  report.plan.seed = options.seed;
  report.plan.opening_plies = options.opening_plies.value_or(has_agent ? kAgentOpeningPlies : 0);
  report.plan.num_tables = kMostTables;
  for (size_t i = 0; i < seats.size(); ++i) {
    LZ_RETURN_IF_ERROR(Seat(options, i, hall.stop, hall.pool, &seats[i]));
    report.sides[i] = Describe(seats[i], options.agent_settings[i]);
  }
  std::vector<JudgedSide> judged;
  for (SeatedPlayer& seat : seats) judged.emplace_back(seat.side.get(), hall.judge);
  const auto side = [&](size_t i) -> MatchSide& {
    return options.judge ? judged[i] : *seats[i].side;
  };
  ProgressClock progress;
  LZ_ASSIGN_OR_RETURN(report.result, PlayMatch(*hall.env, side(0), side(1), report.plan,
                                               [&](const MatchResult& so_far) {
                                                 if (progress.IsDue())
                                                   LogProgress(so_far.total(), options.num_games);
                                                 return hall.stop->load();
                                               }));
  for (size_t i = 0; options.judge && i < seats.size(); ++i) {
    report.sides[i].moves = judged[i].counts();
  }
  return report;
}

int PlayPair(const MatchHall& hall, SeatedPlayers& seats) {
  const auto report = Play(hall, seats);
  if (!report.ok()) return PrintError(report.status(), kExitFailure);
  return PrintReport(hall.options, *report);
}

int PlayLadder(const MatchHall& hall, SeatedPlayers& seats) {
  std::vector<MatchReport> rungs;
  for (const std::string& rung : LadderRungs()) {
    LZ_LOG_INFO(absl::StrCat("ladder: against ", rung));
    seats[1] = SeatedPlayer{MatchPlayer{rung, "", {}}, nullptr, nullptr};
    auto report = Play(hall, seats);
    if (!report.ok()) return PrintError(report.status(), kExitFailure);
    rungs.push_back(*std::move(report));
    if (rungs.back().result.is_stopped) break;
  }
  if (hall.options.json) {
    std::printf("%s\n", LadderJson(rungs).c_str());
  } else {
    std::printf("%s", LadderTable(rungs).c_str());
  }
  return rungs.back().result.is_stopped ? kExitInterrupted : kExitOk;
}

int Match(const MatchOptions& options) {
  SeatedPlayers seats;
  const absl::Status parsed = ParsePlayers(options, &seats);
  if (!parsed.ok()) return PrintError(parsed, kExitUsage);
  const std::atomic<bool>* stop = WatchInterrupts(kMatchInterrupt);
  const int num_threads = static_cast<int>(options.threads.value_or(1));
  options.engines.set_threads(num_threads);
  ThreadPool pool(num_threads);
  const absl::Status loaded = LoadPlayers(options, &pool, &seats);
  if (!loaded.ok()) {
    const bool is_typed = absl::IsNotFound(loaded) || absl::IsInvalidArgument(loaded);
    return PrintError(loaded, is_typed ? kExitUsage : kExitFailure);
  }
  const auto game = ChooseGame(options, seats);
  if (!game.ok()) return PrintError(game.status(), kExitUsage);
  auto env =
      MakeMatchEnv(game->registry, game->id, game->options, options.opening_plies.value_or(0));
  if (!env.ok()) return PrintError(env.status(), kExitUsage);
  const MoveJudge judge = options.judge ? MakeMoveJudge(game->id) : nullptr;
  if (options.judge && judge == nullptr) {
    return PrintError(
        absl::InvalidArgumentError(absl::StrCat("--judge: perfect moves of ", game->id,
                                                " are not known; allowed: connect4, tictactoe")),
        kExitUsage);
  }
  const MatchHall hall{options, *game, *std::move(env), judge, &pool, stop};
  return IsLadder(options) ? PlayLadder(hall, seats) : PlayPair(hall, seats);
}

}  // namespace

void AddMatch(CLI::App& app, VerbAction* action, const PlayerEngines& engines) {
  auto* options = Keep<MatchOptions>();
  options->engines = engines;
  CLI::App* match = app.add_subcommand(
      "match", "Play two players of a board game, checkpoints among them: who is stronger");
  match
      ->add_option("a", options->first,
                   "A run folder or checkpoint: PATH, or PATH@SIMULATIONS a move (0: the policy "
                   "head alone); or random, alpha_beta:PLIES, mcts:SIMULATIONS")
      ->required();
  match
      ->add_option("b", options->second,
                   "The other player, likewise; or ladder: random, then MCTS of 10, 40, 160 and "
                   "640 simulations, one after another")
      ->required();
  match->add_option("settings", options->settings, "name=value of the environment, with --env");
  match->add_option("--env", options->env_id,
                    "Board game of two players that are no checkpoints, e.g. connect4");
  AddNumber(match, "--games", &options->num_games, 1, 1000000, "Games; colors alternate");
  AddSeed(match, &options->seed, "Seed of openings and players");
  AddNumber(match, "--opening-plies", &options->opening_plies, 0, 100,
            "Random moves at the start, the same for both games of a pair (default: 2 with "
            "a checkpoint, else 0)");
  for (const size_t i : {0, 1}) {
    match
        ->add_option(i == 0 ? "--a" : "--b", options->agent_settings[i],
                     absl::StrCat("key=value of the config of checkpoint ", i == 0 ? "A" : "B",
                                  ", of search or inference; may be repeated"))
        ->allow_extra_args(false);
  }
  match->add_flag("--judge", options->judge,
                  "Compare the moves of both with perfect ones: tictactoe, and connect4 from 12 "
                  "stones on");
  match->add_flag("--json", options->json, "One JSON object instead of the table");
  AddNumber(match, "--min-score", &options->min_score, 0.0, 1.0,
            "Exit with 3 when A takes a smaller part of the points");
  AddNumber(match, "--threads", &options->threads, 1, MachineCores(),
            "Threads of the networks (default: as in the runs), and of alpha_beta and mcts (1)");
  AddDevice(match, &options->device);
  AddTask(match, &options->task);
  AddVerbose(match);
  match->callback([=] { *action = [=] { return Match(*options); }; });
}

}  // namespace lzero
