// From a checkpoint on the disk to an agent that can play: config, weights, evaluator. Used by the
// verbs that do not train.
#ifndef LZERO_PLAYER_AGENT_LOADER_H_
#define LZERO_PLAYER_AGENT_LOADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/player/build_player.h"
#include "lzero/run/checkpoint_store.h"

namespace lzero {

struct LoadedAgent {
  ExperimentConfig config;  // of the task that it plays
  EnvRegistry registry;     // with the environments of its plugins
  std::string checkpoint_path;
  int64_t env_steps = 0;
  int64_t num_simulations = 0;
  EvaluatorRole role;
};

// The checkpoint folder that `path` means: a checkpoint itself, or of a run folder the best one
// (two players: the newest evaluated one; the latest when none is marked).
absl::StatusOr<std::string> FindAgentCheckpoint(const std::string& path);

// The tasks of the run that `path` means, as FindAgentCheckpoint takes it; one without a name for a
// run without tasks. Errors as LoadAgent.
absl::StatusOr<std::vector<ExperimentConfig>> FindTaskConfigs(const std::string& path);

struct LoadAgentOptions {
  EngineMaker make_engine;                  // must be set
  std::optional<int64_t> simulations = {};  // a move; nullopt: as the run evaluates
  int64_t num_envs = 0;                     // 0: as the config says
  // nullopt: as the config says. On another kind of device than the run's, its fastest runner.
  std::optional<Device> device = {};
  std::vector<std::string> plugins = {};    // in place of the run's, if there are any
  std::optional<int64_t> num_threads = {};  // of the network, below settings; nullopt: as the run
  int64_t num_roots = 0;                    // of one search; 0: as many as environments
  std::string task = "";                    // of a run of several: which one
  std::vector<std::string> settings = {};   // "key=value" of search and inference, over the config:
                                            // InvalidArgument where play_rules.h refuses them
  bool packed_alone = false;                // without libtorch: a runner or device of the run's
                                            // that needs it counts for nothing
  // Trees in the memory of the host (Agent::host_tree): a device then runs steps, not searches.
  bool shows_trees = false;
};

// Loads an agent for evaluation, with the config that the checkpoint holds: a copy of its folder is
// enough. NotFound when there is no such checkpoint; DataLoss for a damaged one; InvalidArgument
// lists the tensors that do not fit the config, or begins with "task: " and lists the tasks; errors
// of plugins as LoadPlugins. `pool` must
// outlive the agent.
absl::StatusOr<LoadedAgent> LoadAgent(const std::string& path, const EnvRegistry& registry,
                                      const LoadAgentOptions& options, ThreadPool* pool);

}  // namespace lzero

#endif  // LZERO_PLAYER_AGENT_LOADER_H_
