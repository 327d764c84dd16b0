// `lzero policy RUN --stdio`: a checkpoint that another program asks for actions, over its standard
// input and output (tools/python/PROTOCOL.md). Exit codes: 0 the input ended, 1 failure, 2 usage or
// a malformed frame.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "lzero/base/machine.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/schema.h"
#include "lzero/pipe/hello.h"
#include "lzero/pipe/policy_server.h"
#include "lzero/player/agent_loader.h"
#include "tools/verbs/player/player_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/serve_stdio.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

struct PolicyOptions {
  PlayerEngines engines;
  std::string path;
  bool is_stdio = false;
  std::optional<int64_t> simulations;  // null: as the run evaluates
  int64_t max_batch = 32;
  std::optional<int64_t> threads;  // of networks (null: as the run) and environments (null: 1)
  std::string device;              // "": as the run
  std::string task;                // of a run of several
  std::vector<std::string> plugins;
};

int Policy(const PolicyOptions& options) {
  if (!options.is_stdio) return RefuseWithoutStdio("policy");
  // Load the agent, with one environment to know its spec, and a root more for searches.
  const int num_threads = static_cast<int>(options.threads.value_or(1));
  options.engines.set_threads(num_threads);
  ThreadPool pool(num_threads);
  LoadAgentOptions wanted;
  wanted.make_engine = options.engines.make_engine;
  wanted.packed_alone = options.engines.packed_alone;
  wanted.num_threads = options.threads;
  wanted.simulations = options.simulations;
  wanted.num_envs = 1;
  wanted.num_roots = options.max_batch + 1;
  if (!options.device.empty()) wanted.device = ParseDevice(options.device).value();
  wanted.task = options.task;
  wanted.plugins = options.plugins;
  wanted.shows_trees = true;
  auto agent = LoadAgent(options.path, MakeRegistry(), wanted, &pool);
  if (!agent.ok()) {
    return PrintError(agent.status(), absl::IsNotFound(agent.status()) ? kExitUsage : kExitFailure);
  }
  // Answer.
  Evaluator& evaluator = *agent->role.evaluator;
  PolicyFacts facts;
  facts.checkpoint = agent->checkpoint_path;
  facts.family = ValueText(agent->config, "model.family");
  facts.env_steps = agent->env_steps;
  facts.num_simulations = agent->num_simulations;
  facts.max_past_steps = evaluator.max_past_steps();
  facts.max_batch = static_cast<int>(options.max_batch);
  facts.needs_state = evaluator.model()->NeedsState();
  facts.observation = ValueText(agent->config, "env.observation");
  PolicyServer server(evaluator.spec(), facts.max_past_steps, facts.max_batch, evaluator.agent(),
                      evaluator.model());
  return ServeStdio(PolicyHello(facts, evaluator.spec(), LZERO_VERSION),
                    [&](const Frame& request) { return server.Answer(request); });
}

}  // namespace

void AddPolicy(CLI::App& app, VerbAction* action, const PlayerEngines& engines) {
  auto* options = Keep<PolicyOptions>();
  options->engines = engines;
  CLI::App* policy =
      app.add_subcommand("policy", "Let another program ask a checkpoint for actions, by a pipe");
  policy
      ->add_option("path", options->path,
                   "Run folder (its best checkpoint; of a game for two players the newest "
                   "evaluated one) or a checkpoint")
      ->required();
  policy->add_flag("--stdio", options->is_stdio,
                   "Frames over standard input and output; Python's module lzero_cpp speaks them");
  AddNumber(policy, "--sims", &options->simulations, 1, SearchConfig::kMostSimulations,
            "Simulations a move (default: as in the run)");
  AddNumber(policy, "--max-batch", &options->max_batch, 1, 4096, "Episodes at once");
  AddNumber(policy, "--threads", &options->threads, 1, MachineCores(),
            "Threads of the network (default: as in the run)");
  AddDevice(policy, &options->device);
  AddTask(policy, &options->task);
  AddPlugins(policy, &options->plugins, "Library with environments, in place of the run's");
  policy->callback([=] { *action = [=] { return Policy(*options); }; });
}

}  // namespace lzero
