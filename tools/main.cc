// The lzero program: one verb a file. Each *_verb.cc and *_command.cc file declares its own part of
// the command line; config, metrics and search are declared here. A build without libtorch has the
// verbs that need none: compare, config, envs, eval, inspect, match, metrics, policy, runs, scores,
// search.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/plain/plain_verbs.h"
#include "tools/verbs/plain/results_verbs.h"
#include "tools/verbs/player/player_verbs.h"
#include "tools/verbs/support/command_line.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"
#if LZERO_HAS_TORCH
#include "lzero/family/tensor_families.h"
#include "lzero/nn/threads.h"
#include "lzero/train/run_rules.h"
#include "tools/bench/bench_command.h"
#include "tools/verbs/agent_verbs.h"
#else
#include "lzero/env/env_rules.h"
#include "lzero/family/packed/families.h"
#endif

namespace lzero {
namespace {

// Everything that is wrong in a config of this build's environments.
ConfigRule RuleOf(const EnvRegistry& registry) {
#if LZERO_HAS_TORCH
  return RunRule(registry);
#else
  return EnvRule(registry);
#endif
}

PlayerEngines EnginesOfProgram() {
#if LZERO_HAS_TORCH
  return {MakeEngine, SetTensorThreads, false};
#else
  return {MakePackedEngine, [](int) {}, true};
#endif
}

void AddConfig(CLI::App& app, VerbAction* action) {
  CLI::App* config = app.add_subcommand("config", "Show, explain and check configs");
  config->require_subcommand(1);
  auto* path = Keep<std::string>();
  auto* overrides = Keep<std::vector<std::string>>();
  CLI::App* show = config->add_subcommand("show", "Print every setting in force");
  show->add_option("config", *path, "YAML file")->required();
  show->add_option("overrides", *overrides, "key.path=value");
  auto* json = Keep<bool>();
  show->add_flag("--json", *json, "One JSON object instead of YAML");
  show->callback([=] { *action = [=] { return ConfigShow(*path, *overrides, *json); }; });

  auto* words = Keep<std::vector<std::string>>();
  CLI::App* explain =
      config->add_subcommand("explain", "Say what a key means, its default and range");
  explain->add_option("words", *words,
                      "Keys, sections, words to look for, other programs' names; nothing for all");
  explain->callback([=] { *action = [=] { return ConfigExplain(*words); }; });

  auto* paths = Keep<std::vector<std::string>>();
  CLI::App* validate =
      config->add_subcommand("validate", "Report everything that is wrong in configs");
  validate->add_option("configs", *paths, "YAML files")->required();
  validate->callback([=] {
    *action = [=] {
      const EnvRegistry registry = MakeRegistry();
      return ConfigValidate(*paths, RuleOf(registry));
    };
  });

  auto* other = Keep<std::string>();
  CLI::App* diff = config->add_subcommand("diff", "Print the settings in which two configs differ");
  diff->add_option("a", *path, "YAML file")->required();
  diff->add_option("b", *other, "YAML file")->required();
  diff->callback([=] { *action = [=] { return ConfigDiff(*path, *other); }; });
}

void AddMetrics(CLI::App& app, VerbAction* action) {
  auto* name = Keep<std::string>();
  CLI::App* metrics = app.add_subcommand(
      "metrics", "Say what the numbers of a run mean (metrics.jsonl, TensorBoard)");
  metrics->add_option("name", *name, "Metric, group, or nothing for all");
  metrics->callback([=] { *action = [=] { return Metrics(*name); }; });
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

// `help`, `help VERB` and `version` as the options that mean the same; the dash that editors make
// of two as these.
std::vector<std::string> WithOptionsForWords(std::vector<std::string> command_line) {
  for (std::string& word : command_line) {
    for (const char* dash : {"\u2014", "\u2013"}) {
      if (absl::StartsWith(word, dash)) word.replace(0, std::strlen(dash), "--");
    }
  }
  if (command_line.size() < 2) return command_line;
  if (command_line[1] == "help") {
    command_line.erase(command_line.begin() + 1);
    command_line.push_back("--help");
  }
  if (command_line[1] == "version") command_line[1] = "--version";
  return command_line;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> command_line =
      WithOptionsForWords(std::vector<std::string>(argv, argv + argc));
  // Declare the verbs.
  CLI::App app("lzero: planning agents with learned world models", ProgramCommand());
  app.set_version_flag("--version",
                       std::string("lzero ") + LZERO_VERSION + " (" + SourceCommit() + ")");
  app.require_subcommand(1);
  VerbAction action;
#if LZERO_HAS_TORCH
  AddTrain(app, &action, command_line);
  AddSweep(app, &action, command_line);
#endif
  AddEval(app, &action, EnginesOfProgram());
  AddPolicy(app, &action, EnginesOfProgram());
  AddInspect(app, &action);
#if LZERO_HAS_TORCH
  AddDoctor(app, &action);
#endif
  AddMatch(app, &action, EnginesOfProgram());
#if LZERO_HAS_TORCH
  AddReport(app, &action);
  AddForgetting(app, &action);
#endif
  AddConfig(app, &action);
  AddMetrics(app, &action);
  AddRuns(app, &action);
  AddCompare(app, &action);
  AddScores(app, &action);
  AddEnvs(app, &action);
  AddSearch(app, &action);
#if LZERO_HAS_TORCH
  AddBench(app, &action);
#endif
  // Verbs would inherit it.
  app.footer("VERB --help tells a verb's options. `help`, `help VERB` and `version` work, too.");
  // Parse the command line.
  const std::string unknown = UnknownVerb(app, command_line);
  if (!unknown.empty()) {
    return PrintError(absl::InvalidArgumentError(unknown), kExitUsage);
  }
  try {
    std::vector<std::string> words(command_line.rbegin(), command_line.rend() - 1);
    app.parse(std::move(words));  // takes them from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return PrintError(absl::InvalidArgumentError(UsageText(app, error, command_line)), kExitUsage);
  }
  try {
    // Run the verb.
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
