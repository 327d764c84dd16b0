#include <cstdint>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/plugin.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

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
    WorkerOptions* workers = &target->options.workers;
    verb->add_option("--wrapper", workers->wrappers,
                     "gymnasium:<id>: module:function, called with the environment; may be given "
                     "again")
        ->type_name("CALL")
        ->allow_extra_args(false)
        ->check(NotEmpty("module:function"));
    verb->add_option("--observation", workers->observation,
                     absl::StrCat("Python: how observations are read; ",
                                  absl::StrJoin(kObservationForms, ", ")))
        ->check(OneOf({std::begin(kObservationForms), std::end(kObservationForms)}));
    AddNumber(verb, "--max-episode-steps", &target->options.max_episode_steps, 0, 1000000000,
              "Step cap (0: its own)");
    AddNumber(verb, "--random-openings", &target->options.random_opening_fraction, 0.0, 1.0,
              "Boards: share of episodes that begin with random moves");
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
  AddNumber(verb, "--steps", &check->num_steps, 1, 100000000, "Random steps");
}

void AddTraceVerbs(const EnvsCommand& command) {
  auto* played = Keep<EnvsRolloutOptions>();
  CLI::App* verb = command.AddEnvVerb("rollout", "Play, and write a trace or pictures",
                                      &played->target, EnvsRollout, played);
  AddSeed(verb, &played->seed, "Seed of the first episode");
  verb->add_option("--actions", played->actions, "File with one action a line, or: random")
      ->capture_default_str();
  AddNumber(verb, "--steps", &played->num_steps, 1, 100000000,
            "Steps (default: the whole file, or 1000; with --render 200)");
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
  AddNumber(verb, "--depth", &perft->depth, 1, 64, "Plies")->required()->default_str("");
  AddSeed(verb, &perft->seed, "Seed");
}

void AddSpeed(const EnvsCommand& command) {
  auto* bench = Keep<EnvsBenchOptions>();
  CLI::App* verb =
      command.AddEnvVerb("bench", "Time random steps", &bench->target, EnvsBench, bench);
  AddNumber(verb, "--envs", &bench->num_envs, 1, 4096, "Environments stepped together");
  AddNumber(verb, "--workers", &bench->num_workers, 0, 1024,
            "Processes of Python environments (0: one for each core)");
  AddNumber(verb, "--seconds", &bench->seconds, 0.01, 3600.0, "How long");
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
  AddNumber(verb, "--games", &match->num_games, 1, 1000000, "Games; colors alternate");
  AddSeed(verb, &match->seed, "Seed of the players and of random openings");
}

void AddServe(const EnvsCommand& command) {
  auto* serve = Keep<EnvsServeOptions>();
  CLI::App* verb = command.AddEnvVerb("serve", "Let another program play, by a pipe",
                                      &serve->target, EnvsServe, serve);
  verb->add_flag("--stdio", serve->is_stdio,
                 "Frames over standard input and output; Python's module lzero_cpp speaks them");
}

}  // namespace

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
  AddServe(command);
}

}  // namespace lzero
