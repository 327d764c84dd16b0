// Puts together the roles of a run, from a config, with what player/build_player.h makes:
// everything else receives what it needs by constructor. Nothing here runs anything.
#ifndef LZERO_TRAIN_BUILD_H_
#define LZERO_TRAIN_BUILD_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/player/build_player.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/worker/collector.h"
#include "lzero/worker/reanalyzer.h"

namespace lzero {

// A collector with the inference engine (weights, cache, step) that answers its searches.
struct CollectorRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Collector> collector;
};

// Both null when the config asks for no reanalyzer.
struct ReanalyzerRole {
  std::unique_ptr<InferenceEngine> inference;
  std::unique_ptr<Reanalyzer> reanalyzer;
};

ReplayShape BuildReplayShape(const ExperimentConfig& config, const EnvSpec& spec);
// `pool` outlives the role.
absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool);

// BuildPlayer with the engines of this program.
absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool);

// Stored positions that are searched together: those that steps of all collectors are owed, 64 at
// most, and as many as there are collectors at least.
int64_t ReanalyzeBatch(const ExperimentConfig& config);

// Where replay.reanalyze_ratio or fresh_share ask for it, in batches of ReanalyzeBatch positions.
absl::StatusOr<ReanalyzerRole> BuildReanalyzer(const ExperimentConfig& config,
                                               const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_BUILD_H_
