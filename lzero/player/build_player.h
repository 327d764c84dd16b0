// Puts together what plays, from a config: environments, engine, searcher, evaluator. Nothing here
// runs anything.
#ifndef LZERO_PLAYER_BUILD_PLAYER_H_
#define LZERO_PLAYER_BUILD_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/agent/agent.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/vector_env.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/mcts/searcher.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// MakeEngine (lzero/family/tensor_families.h), or MakePackedEngine where there is no libtorch.
using EngineMaker = std::function<absl::StatusOr<std::unique_ptr<InferenceEngine>>(
    const EngineOptions& options, const EnvFactory& make_env)>;

// An evaluator with the inference engine (weights, cache, step) that answers its searches.
struct EvaluatorRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Evaluator> evaluator;
};

// Makes environments of the run. The factory must not outlive `config` and `registry`.
EnvFactory BuildEnvFactory(const ExperimentConfig& config, const EnvRegistry& registry);
// Spec of the configured environment.
absl::StatusOr<EnvSpec> BuildEnvSpec(const ExperimentConfig& config, const EnvRegistry& registry);

// Steps of its past that a root is given at most: as many as the model's windows reach, none in
// games for two players, so that self-play, matches and grades of single positions search alike.
int64_t MaxPastSteps(const ModelConfig& model, const EnvSpec& spec);
WorldModelShape BuildWorldModelShape(const EnvSpec& spec);
EngineOptions BuildEngineOptions(const ExperimentConfig& config, const EnvSpec& spec,
                                 int64_t num_envs, int64_t num_simulations);

// The searcher of a role. It searches on the device of `engine` when that engine can, else on the
// host. `engine` was made with these options and must outlive it.
absl::StatusOr<std::unique_ptr<Searcher>> BuildSearcher(const EngineOptions& options,
                                                        InferenceEngine* engine);

// What the random numbers of a role begin with.
uint64_t RoleSeed(const ExperimentConfig& config, const char* role);

// The environments of a role.
absl::StatusOr<std::unique_ptr<VectorEnv>> BuildEnvs(const ExperimentConfig& config,
                                                     const EnvRegistry& registry, int64_t num_envs,
                                                     bool is_training, ThreadPool* pool);
// Makes the engine of `role` and the agent that searches with it. `registry` may be gone when it
// returns.
absl::StatusOr<std::unique_ptr<Agent>> BuildAgent(const char* role, const ExperimentConfig& config,
                                                  const EnvRegistry& registry, const EnvSpec& spec,
                                                  int64_t num_envs, int64_t num_simulations,
                                                  bool deterministic_ties,
                                                  const EngineMaker& make_engine,
                                                  std::unique_ptr<InferenceEngine>* engine);

// `num_envs` evaluation environments (no random openings), `num_simulations` a search of at most
// `num_roots` roots (0: num_envs). `pool` outlives the role.
absl::StatusOr<EvaluatorRole> BuildPlayer(const EngineMaker& make_engine,
                                          const ExperimentConfig& config,
                                          const EnvRegistry& registry, int64_t num_envs,
                                          int64_t num_simulations, ThreadPool* pool,
                                          int64_t num_roots = 0);

}  // namespace lzero

#endif  // LZERO_PLAYER_BUILD_PLAYER_H_
