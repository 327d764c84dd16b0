#include "tools/verbs/plain/envs_command.h"

#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/plugin.h"
#include "tools/verbs/plain/envs_match_verb.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

CLI::Option* AddSeed(CLI::App* verb, uint64_t* seed, const char* help) {
  return verb->add_option("--seed", *seed, help)->check(SeedError)->capture_default_str();
}

// What every verb adds to: `envs`, the action, and the plugins that were named.
struct EnvsCommand {
  CLI::App* envs;
  VerbAction* action;
  std::vector<std::string>* plugins = Keep<std::vector<std::string>>();

  CLI::App* AddVerb(const char* name, const char* help) const {
    CLI::App* verb = envs->add_subcommand(name, help);
    AddPlugins(verb, plugins, "Library with environments plugin:NAME; may be given again");
    return verb;
  }

  // A verb that takes an environment and its settings, and runs `run` with `options`. `add_words`
  // adds the words between the two.
  template <typename Options>
  CLI::App* AddEnvVerb(
      const char* name, const char* help, EnvsTarget* target,
      int (*run)(const EnvRegistry&, const Options&, const Console&), const Options* options,
      const std::function<void(CLI::App*)>& add_words = [](CLI::App*) {}) const {
    CLI::App* verb = AddVerb(name, help);
    verb->add_option("id", target->id,
                     absl::StrCat("Environment, see: ", ProgramCommand(), " envs list"))
        ->required();
    add_words(verb);
    verb->add_option("settings", target->settings,
                     "name=value of this environment alone, see: envs info ID");
    verb->add_option("--max-episode-steps", target->options.max_episode_steps,
                     "Step cap (0: its own)")
        ->check(InRange(0, 1000000000))
        ->capture_default_str();
    verb->add_option("--random-openings", target->options.random_opening_fraction,
                     "Boards: share of episodes that begin with random moves")
        ->check(InRange(0.0, 1.0))
        ->capture_default_str();
    RunAs(verb, [=](const EnvRegistry& registry, const Console& console) {
      return run(registry, *options, console);
    });
    return verb;
  }

  // `run` gets the environments of this build and those of the plugins.
  template <typename Run>
  void RunAs(CLI::App* verb, Run run) const {
    verb->callback([action = action, plugins = plugins, run] {
      *action = [=] {
        EnvRegistry registry = MakeRegistry();
        const absl::Status loaded = LoadPlugins(*plugins, &registry);
        if (!loaded.ok()) return PrintError(Annotate(loaded, "--plugin"), kExitUsage);
        return run(registry, Console{std::cout, std::cerr});
      };
    });
  }
};

void AddCheck(const EnvsCommand& command) {
  auto* check = Keep<EnvsCheckOptions>();
  CLI::App* verb =
      command.AddEnvVerb("check", "Run the conformance suite", &check->target, EnvsCheck, check);
  AddSeed(verb, &check->seed, "Seed");
  verb->add_option("--steps", check->num_steps, "Random steps")
      ->check(InRange(1, 100000000))
      ->capture_default_str();
}

void AddTraceVerbs(const EnvsCommand& command) {
  auto* played = Keep<EnvsRolloutOptions>();
  CLI::App* verb = command.AddEnvVerb("rollout", "Play, and write a trace or pictures",
                                      &played->target, EnvsRollout, played);
  AddSeed(verb, &played->seed, "Seed of the first episode");
  verb->add_option("--actions", played->actions, "File with one action a line, or: random")
      ->capture_default_str();
  verb->add_option("--steps", played->num_steps,
                   "Steps (default: the whole file, or 1000; with --render 200)")
      ->check(InRange(1, 100000000));
  verb->add_option("--render", played->picture.format,
                   "gif, png or text: show what happens instead of writing a trace");
  verb->add_option("--out", played->out_path,
                   "File of the trace or text (default: standard output) or of the gif (<id>.gif), "
                   "folder of the png files (<id>_frames)");
  AddPictureOptions(verb, &played->picture);

  auto* replay = Keep<EnvsReplayOptions>();
  verb = command.AddEnvVerb("replay", "Check against a recorded trace", &replay->target, EnvsReplay,
                            replay);
  verb->add_option("--trace", replay->trace_path, "Trace file")->required();
  verb->add_flag("--whole", replay->whole, "Replay each episode from its first state");
}

void AddPerft(const EnvsCommand& command) {
  auto* perft = Keep<EnvsPerftOptions>();
  CLI::App* verb =
      command.AddEnvVerb("perft", "Count move sequences", &perft->target, EnvsPerft, perft);
  verb->add_option("--depth", perft->depth, "Plies")->required()->check(InRange(1, 64));
  AddSeed(verb, &perft->seed, "Seed");
}

void AddSpeed(const EnvsCommand& command) {
  auto* bench = Keep<EnvsBenchOptions>();
  CLI::App* verb =
      command.AddEnvVerb("bench", "Time random steps", &bench->target, EnvsBench, bench);
  verb->add_option("--envs", bench->num_envs, "Environments stepped together")
      ->check(InRange(1, 4096))
      ->capture_default_str();
  verb->add_option("--workers", bench->num_workers,
                   "Processes of Python environments (0: one for each core)")
      ->check(InRange(0, 1024))
      ->capture_default_str();
  verb->add_option("--seconds", bench->seconds, "How long")
      ->check(InRange(0.01, 3600.0))
      ->capture_default_str();
}

void AddMatch(const EnvsCommand& command) {
  auto* match = Keep<EnvsMatchOptions>();
  const auto add_players = [match](CLI::App* verb) {
    const char* players = "random, alpha_beta:PLIES or mcts:SIMULATIONS";
    verb->add_option("a", match->first, players)->required();
    verb->add_option("b", match->second, players)->required();
  };
  CLI::App* verb = command.AddEnvVerb("match", "Let two players of a board game play",
                                      &match->target, EnvsMatch, match, add_players);
  verb->add_option("--games", match->num_games, "Games; colors alternate")
      ->check(InRange(1, 1000000))
      ->capture_default_str();
  AddSeed(verb, &match->seed, "Seed of the players and of random openings");
}

}  // namespace

void AddPictureOptions(CLI::App* verb, PictureOptions* options) {
  verb->add_option("--fps", options->fps,
                   "Pictures a second of a gif (default: 10, of a game for two players 2)")
      ->check(InRange(1, kMostFramesPerSecond));
  verb->add_option("--scale", options->scale, "Magnification of pictures (default: 1)")
      ->check(InRange(1, kMostScale));
}

void AddEnvs(CLI::App& app, VerbAction* action) {
  CLI::App* envs = app.add_subcommand("envs", "List, check, play and trace environments");
  envs->require_subcommand(1);
  const EnvsCommand command = {envs, action};
  command.RunAs(command.AddVerb("list", "Every environment of this build and of plugins"),
                EnvsList);
  auto* subject = Keep<EnvsTarget>();
  command.AddEnvVerb("info", "Shapes, actions, players, limits", subject, EnvsInfo, subject);
  AddCheck(command);
  AddTraceVerbs(command);
  AddPerft(command);
  AddSpeed(command);
  AddMatch(command);
}

}  // namespace lzero
