// The lzero program: one verb a file, the command line is taken apart here and nowhere else.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "lzero/train/run_plan.h"
#include "tools/bench_command.h"
#include "tools/command_line.h"
#include "tools/config_verb.h"
#include "tools/doctor_verb.h"
#include "tools/envs_verb.h"
#include "tools/eval_verb.h"
#include "tools/inspect_verb.h"
#include "tools/interrupt.h"
#include "tools/search_verb.h"
#include "tools/source_commit.h"
#include "tools/train_verb.h"
#include "tools/usage_error.h"
#include "tools/verb_support.h"

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
      eval->add_option("--render", options->render,
                       "text: show one environment after every step (with --json on stderr)");
  eval->add_flag("--json", options->json, "One JSON object instead of the table");
  CLI::Option* min_return = eval->add_option("--min-return", options->min_return,
                                             "Exit with 3 when the mean return is lower")
                                ->check([](const std::string& text) {
                                  constexpr double kEnd = std::numeric_limits<double>::infinity();
                                  return NumberError(text, -kEnd, kEnd);
                                });
  eval->add_flag("--grade", options->grade,
                 "Judge the move in every position of a solved game; plays no episodes")
      ->excludes(episodes)
      ->excludes(seeds)
      ->excludes(render)
      ->excludes(min_return);
  eval->add_option("--threads", options->threads, "Threads of the network")
      ->check(InRange(1, 256))
      ->capture_default_str();
  eval->add_option("--device", options->device, "cpu or cuda (default: as the run)")
      ->check([](const std::string& text) {
        return text == "cpu" || text == "cuda"
                   ? std::string()
                   : absl::StrCat("got '", text, "', allowed: cpu, cuda");
      });
  eval->callback([=] { *action = [=] { return Eval(*options); }; });

  auto* path = Keep<std::string>();
  CLI::App* inspect =
      app.add_subcommand("inspect", "Show what is in a checkpoint and check every file");
  inspect->add_option("path", *path, "Run folder or checkpoint")->required();
  inspect->callback([=] { *action = [=] { return Inspect(*path); }; });

  CLI::App* doctor = app.add_subcommand("doctor", "Check this machine and this build");
  doctor->callback([=] { *action = [] { return Doctor(); }; });
}

void AddConfig(CLI::App& app, VerbAction* action) {
  CLI::App* config = app.add_subcommand("config", "Show, explain and check configs");
  config->require_subcommand(1);
  auto* path = Keep<std::string>();
  auto* overrides = Keep<std::vector<std::string>>();
  CLI::App* show = config->add_subcommand("show", "Print every setting in force");
  show->add_option("config", *path, "YAML file")->required();
  show->add_option("overrides", *overrides, "key.path=value");
  show->callback([=] { *action = [=] { return ConfigShow(*path, *overrides); }; });

  auto* key = Keep<std::string>();
  CLI::App* explain =
      config->add_subcommand("explain", "Say what a key means, its default and range");
  explain->add_option("key", *key, "Key, section, or nothing for all");
  explain->callback([=] { *action = [=] { return ConfigExplain(*key); }; });

  auto* paths = Keep<std::vector<std::string>>();
  CLI::App* validate =
      config->add_subcommand("validate", "Report everything that is wrong in configs");
  validate->add_option("configs", *paths, "YAML files")->required();
  validate->callback([=] {
    *action = [=] {
      const EnvRegistry registry = MakeRegistry();
      return ConfigValidate(*paths, RunRule(registry));
    };
  });

  auto* other = Keep<std::string>();
  CLI::App* diff = config->add_subcommand("diff", "Print the settings in which two configs differ");
  diff->add_option("a", *path, "YAML file")->required();
  diff->add_option("b", *other, "YAML file")->required();
  diff->callback([=] { *action = [=] { return ConfigDiff(*path, *other); }; });
}

CLI::Option* AddSeed(CLI::App* verb, uint64_t* seed, const char* help) {
  return verb->add_option("--seed", *seed, help)->check(SeedError)->capture_default_str();
}

// An `envs` verb that takes an environment id and its settings.
CLI::App* AddEnvsVerb(CLI::App* envs, const char* name, const char* help, EnvsTarget* target) {
  CLI::App* verb = envs->add_subcommand(name, help);
  verb->add_option("id", target->id,
                   absl::StrCat("Environment, see: ", ProgramCommand(), " envs list"))
      ->required();
  verb->add_option("--max-episode-steps", target->options.max_episode_steps,
                   "Step cap (0: its own)")
      ->check(InRange(0, 1000000000))
      ->capture_default_str();
  verb->add_option("--random-openings", target->options.random_opening_fraction,
                   "Boards: share of episodes that begin with random moves")
      ->check(InRange(0.0, 1.0))
      ->capture_default_str();
  return verb;
}

void AddEnvs(CLI::App& app, VerbAction* action) {
  CLI::App* envs = app.add_subcommand("envs", "List, check, play and trace environments");
  envs->require_subcommand(1);
  const auto run = [action](auto verb, const auto* options) {
    return [=] {
      *action = [=] { return verb(MakeRegistry(), *options, Console{std::cout, std::cerr}); };
    };
  };
  envs->add_subcommand("list", "Every environment of this build")->callback([=] {
    *action = [] { return EnvsList(MakeRegistry(), Console{std::cout, std::cerr}); };
  });
  auto* subject = Keep<EnvsTarget>();
  AddEnvsVerb(envs, "info", "Shapes, actions, players, limits", subject)
      ->callback(run(EnvsInfo, subject));

  auto* check = Keep<EnvsCheckOptions>();
  CLI::App* verb = AddEnvsVerb(envs, "check", "Run the conformance suite", &check->target);
  AddSeed(verb, &check->seed, "Seed");
  verb->add_option("--steps", check->num_steps, "Random steps")
      ->check(InRange(1, 100000000))
      ->capture_default_str();
  verb->callback(run(EnvsCheck, check));

  auto* played = Keep<EnvsRolloutOptions>();
  verb = AddEnvsVerb(envs, "rollout", "Play and write a trace", &played->target);
  AddSeed(verb, &played->seed, "Seed of the first episode");
  verb->add_option("--actions", played->actions, "File with one action a line, or: random")
      ->capture_default_str();
  verb->add_option("--steps", played->num_steps, "Steps (default: the whole file, or 1000)")
      ->check(InRange(1, 100000000));
  verb->add_option("--out", played->out_path, "Trace file (default: standard output)");
  verb->callback(run(EnvsRollout, played));

  auto* replay = Keep<EnvsReplayOptions>();
  verb = AddEnvsVerb(envs, "replay", "Check against a recorded trace", &replay->target);
  verb->add_option("--trace", replay->trace_path, "Trace file")->required();
  verb->add_flag("--whole", replay->whole, "Replay each episode from its first state");
  verb->callback(run(EnvsReplay, replay));

  auto* perft = Keep<EnvsPerftOptions>();
  verb = AddEnvsVerb(envs, "perft", "Count move sequences", &perft->target);
  verb->add_option("--depth", perft->depth, "Plies")->required()->check(InRange(1, 64));
  AddSeed(verb, &perft->seed, "Seed");
  verb->callback(run(EnvsPerft, perft));

  auto* bench = Keep<EnvsBenchOptions>();
  verb = AddEnvsVerb(envs, "bench", "Time random steps", &bench->target);
  verb->add_option("--seconds", bench->seconds, "How long")
      ->check(InRange(0.01, 3600.0))
      ->capture_default_str();
  verb->callback(run(EnvsBench, bench));
}

void AddSearch(CLI::App& app, VerbAction* action) {
  CLI::App* search = app.add_subcommand("search", "Replay recorded searches");
  search->require_subcommand(1);
  auto* files = Keep<std::vector<std::string>>();
  CLI::App* replay = search->add_subcommand("replay", "Replay golden search trees");
  replay->add_option("files", *files, "JSON files, e.g. tests/golden/search/*.json")->required();
  replay->callback([=] { *action = [=] { return SearchReplay(*files); }; });
}

VerbSyntax SyntaxOf(const CLI::App& level, const std::string& name) {
  VerbSyntax verb;
  verb.name = name;
  for (const CLI::Option* option : level.get_options()) {
    for (const std::string& long_name : option->get_lnames()) {
      verb.options.push_back("--" + long_name);
    }
    if (option->get_name() == "overrides") verb.takes_settings = true;
  }
  for (const CLI::App* next : level.get_subcommands({})) verb.verbs.push_back(next->get_name());
  return verb;
}

// What to say about the first word of the command line that stands where a verb must and is none;
// "" if there is no such word.
std::string UnknownVerb(const CLI::App& app, const std::vector<std::string>& command_line) {
  const CLI::App* level = &app;
  std::string name;
  for (size_t i = 1; i < command_line.size() && command_line[i].rfind('-', 0) != 0; ++i) {
    const VerbSyntax verb = SyntaxOf(*level, name);
    if (verb.verbs.empty()) return "";
    const CLI::App* next = nullptr;
    for (const CLI::App* candidate : level->get_subcommands({})) {
      if (candidate->get_name() == command_line[i]) next = candidate;
    }
    if (next == nullptr) return UnknownVerbText(verb, command_line[i]);
    level = next;
    absl::StrAppend(&name, name.empty() ? "" : " ", command_line[i]);
  }
  return "";
}

// What to say about a command line that `app` could not take apart.
std::string UsageText(const CLI::App& app, const CLI::ParseError& error,
                      const std::vector<std::string>& command_line) {
  const CLI::App* level = &app;
  std::string name;
  while (!level->get_subcommands().empty()) {
    level = level->get_subcommands().front();
    absl::StrAppend(&name, name.empty() ? "" : " ", level->get_name());
  }
  const VerbSyntax verb = SyntaxOf(*level, name);
  const std::vector<std::string> unexpected = app.remaining(/*recurse=*/true);
  if (!unexpected.empty()) return UnexpectedWordText(verb, command_line, unexpected);
  return ParseErrorText(verb, error.get_name(), error.what(), ProgramCommand());
}

int Main(int argc, char** argv) {
  const std::vector<std::string> command_line(argv, argv + argc);
  CLI::App app("lzero: planning agents with learned world models", ProgramCommand());
  app.set_version_flag("--version",
                       std::string("lzero ") + LZERO_VERSION + " (" + SourceCommit() + ")");
  app.require_subcommand(1);
  VerbAction action;
  AddTrain(app, &action, command_line);
  AddEval(app, &action);
  AddConfig(app, &action);
  AddEnvs(app, &action);
  AddSearch(app, &action);
  AddBench(app, &action);
  const std::string unknown = UnknownVerb(app, command_line);
  if (!unknown.empty()) {
    return PrintError(absl::InvalidArgumentError(unknown), kExitUsage);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return PrintError(absl::InvalidArgumentError(UsageText(app, error, command_line)), kExitUsage);
  }
  try {
    return action();
  } catch (const std::bad_alloc&) {  // where a verb has nothing to clean up or to tell
    return PrintError(absl::ResourceExhaustedError("out of memory"), kExitFailure);
  }
}

// `code`, or that of a failure when what was printed is lost, as on a full disk. Who closed the
// output, or stopped reading it, wants no more of it.
int FlushOutput(int code, bool is_closed) {
  errno = 0;
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout.good();
  if (!lost || code != kExitOk || is_closed || errno == EPIPE) return code;
  const char* why = errno != 0 ? std::strerror(errno) : "some of it was not written";
  return PrintError(absl::DataLossError(absl::StrCat("cannot write the output: ", why)),
                    kExitFailure);
}

}  // namespace
}  // namespace lzero

int main(int argc, char** argv) {
  const bool is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
  return lzero::FlushOutput(lzero::Main(argc, argv), is_closed);
}
