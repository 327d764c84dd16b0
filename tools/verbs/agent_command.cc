#include "tools/verbs/agent_command.h"

#include <limits>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "tools/verbs/doctor_verb.h"
#include "tools/verbs/eval_verb.h"
#include "tools/verbs/inspect_verb.h"
#include "tools/verbs/match_verb.h"
#include "tools/verbs/plain/envs_command.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/train_verb.h"

namespace lzero {
namespace {

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
      ->check([](const std::string& text) {
        return text.empty() ? "got '', allowed: a folder" : std::string();
      });
  train->add_flag("--dry-run", options->dry_run, "Check everything, print the plan, and stop");
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
  resume->add_option("overrides", *overrides,
                     "key.path=value of stop, evaluate, checkpoint, num_threads");
  resume->callback([=] { *action = [=] { return Resume(*run, *overrides); }; });
}

void AddDevice(CLI::App* verb, std::string* device) {
  verb->add_option("--device", *device, "cpu or cuda (default: as the run)")
      ->check([](const std::string& text) {
        return text == "cpu" || text == "cuda"
                   ? std::string()
                   : absl::StrCat("got '", text, "', allowed: cpu, cuda");
      });
}

void AddEval(CLI::App& app, VerbAction* action) {
  auto* options = Keep<EvalOptions>();
  CLI::App* eval = app.add_subcommand("eval", "Play a checkpoint greedily and report its return");
  eval->add_option("path", options->path,
                   "Run folder (its best checkpoint; of a game for two players the newest "
                   "evaluated one) or a checkpoint")
      ->required();
  CLI::Option* episodes = eval->add_option("--episodes", options->episodes, "Episodes to play")
                              ->check(InRange(1, 100000))
                              ->capture_default_str();
  CLI::Option* seeds =
      eval->add_option("--seeds", options->seeds, "A..B: one episode for each seed")
          ->excludes(episodes);
  eval->add_option("--sims", options->simulations, "Simulations a move (default: as in the run)")
      ->check(InRange(1, 100000));
  CLI::Option* render =
      eval->add_option("--render", options->picture.format,
                       "text: show one environment after every step (with --json on stderr); "
                       "gif: as an animation");
  eval->add_option("--out", options->picture_path, "File of the gif (default: <environment>.gif)");
  AddPictureOptions(eval, &options->picture);
  eval->add_flag("--json", options->json, "One JSON object instead of the table");
  CLI::Option* min_return = eval->add_option("--min-return", options->min_return,
                                             "Exit with 3 when the mean return is lower")
                                ->check([](const std::string& text) {
                                  constexpr double kEnd = std::numeric_limits<double>::infinity();
                                  return NumberError(text, -kEnd, kEnd);
                                });
  CLI::Option* grade =
      eval->add_flag(
              "--grade", options->grade,
              "Judge moves in positions with known best ones, of a solved game; plays no episodes")
          ->excludes(episodes)
          ->excludes(seeds)
          ->excludes(render)
          ->excludes(min_return);
  eval->add_flag("--chance", options->chance,
                 "Compare the chance outcomes that the model foretells with those that the "
                 "environment lists, at every step of the episodes")
      ->excludes(render)
      ->excludes(min_return)
      ->excludes(grade);
  eval->add_option("--threads", options->threads, "Threads of the network")
      ->check(InRange(1, 256))
      ->capture_default_str();
  AddDevice(eval, &options->device);
  AddPlugins(eval, &options->plugins, "Library with environments, in place of the run's");
  eval->callback([=] { *action = [=] { return Eval(*options); }; });

  auto* path = Keep<std::string>();
  CLI::App* inspect =
      app.add_subcommand("inspect", "Show what is in a checkpoint and check every file");
  inspect->add_option("path", *path, "Run folder or checkpoint")->required();
  inspect->callback([=] { *action = [=] { return Inspect(*path); }; });

  CLI::App* doctor = app.add_subcommand("doctor", "Check this machine and this build");
  doctor->callback([=] { *action = [] { return Doctor(); }; });
}

void AddMatch(CLI::App& app, VerbAction* action) {
  auto* options = Keep<MatchOptions>();
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
  match->add_option("--games", options->num_games, "Games; colors alternate")
      ->check(InRange(1, 1000000))
      ->capture_default_str();
  match->add_option("--seed", options->seed, "Seed of openings and players")
      ->check(SeedError)
      ->capture_default_str();
  match
      ->add_option("--opening-plies", options->opening_plies,
                   "Random moves at the start, the same for both games of a pair (default: 2 with "
                   "a checkpoint, else 0)")
      ->check(InRange(0, 100));
  match->add_flag("--json", options->json, "One JSON object instead of the table");
  match
      ->add_option("--min-score", options->min_score,
                   "Exit with 3 when A takes a smaller part of the points")
      ->check(InRange(0.0, 1.0));
  match
      ->add_option("--threads", options->threads,
                   "Threads of the network, and of alpha_beta and mcts")
      ->check(InRange(1, 256))
      ->capture_default_str();
  AddDevice(match, &options->device);
  match->callback([=] { *action = [=] { return Match(*options); }; });
}

}  // namespace

void AddAgentVerbs(CLI::App& app, VerbAction* action,
                   const std::vector<std::string>& command_line) {
  AddTrain(app, action, command_line);
  AddEval(app, action);
  AddMatch(app, action);
}

}  // namespace lzero
