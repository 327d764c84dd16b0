// The one place where objects are put together from a config: everything else receives what it
// needs by constructor. Nothing here runs anything.
#ifndef LZERO_TRAIN_BUILD_H_
#define LZERO_TRAIN_BUILD_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/family/model_family.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/mcts/searcher.h"
#include "lzero/model/network.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/worker/collector.h"
#include "lzero/worker/evaluator.h"
#include "lzero/worker/reanalyzer.h"

namespace lzero {

// A collector with the inference engine (weights, cache, step) that answers its searches.
struct CollectorRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Collector> collector;
};

struct EvaluatorRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Evaluator> evaluator;
};

// Both null when the config asks for no reanalyzer.
struct ReanalyzerRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Reanalyzer> reanalyzer;
};

// Makes environments of the run. The factory must not outlive `config` and `registry`.
EnvFactory BuildEnvFactory(const ExperimentConfig& config, const EnvRegistry& registry);
// Spec of the configured environment.
absl::StatusOr<EnvSpec> BuildEnvSpec(const ExperimentConfig& config, const EnvRegistry& registry);

WorldModelShape BuildWorldModelShape(const EnvSpec& spec);
ReplayShape BuildReplayShape(const ExperimentConfig& config, const EnvSpec& spec);
EngineOptions BuildEngineOptions(const ExperimentConfig& config, const EnvSpec& spec,
                                 int64_t num_envs, int64_t num_simulations);

// The searcher of a role. It searches on the device of `engine` when that engine can, else on the
// host. `engine` was made with these options and must outlive it.
absl::StatusOr<std::unique_ptr<Searcher>> BuildSearcher(const EngineOptions& options,
                                                        InferenceEngine* engine);

// `pool` outlives the role.
absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool);

// `num_envs` evaluation environments (no random openings), `num_simulations` a search of at most
// `num_roots` roots (0: num_envs).
absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool,
                                             int64_t num_roots = 0);

// For replay.reanalyze_ratio above 0: batches of as many positions as the collector has
// environments.
absl::StatusOr<ReanalyzerRole> BuildReanalyzer(const ExperimentConfig& config,
                                               const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_BUILD_H_
