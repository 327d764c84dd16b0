// Builds what runs the model inside a search through libtorch: the recurrent step and the roots. A
// new runner is one more case here, and in ../engine/runner_choice.h.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_RUNNERS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_RUNNERS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/engine/runner_choice.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// Warns that `what`, steps or the like, could not be recorded, and how it runs instead.
void LogWithoutGraphs(const char* what, const InferenceConfig& config, const absl::Status& cause);

// The step alone, between buffers of its own. `model` and `device`, which is the model's, must
// outlive it. Logs the choice of `auto`. Errors as ChooseRunner; a capture that fails is an error
// where graphs are required, and otherwise is logged with its cause and leaves the step eager.
// InvalidArgument for cuda_search_graph, which has none.
absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeRecurrentStep(const InferenceConfig& config,
                                                                 const WorldModel& model,
                                                                 int64_t max_batch,
                                                                 const EngineDevice& device = {});

struct Runners {
  std::unique_ptr<RecurrentStep> step;
  std::unique_ptr<RootRunner> roots;
};

// Builds both for the environments of `cache`, as `choice` says, which is not packed; the log names
// its owner with the choice of `auto`. All arguments must outlive them; `contexts` writes into
// `cache`. Beside runner cuda_search_graph (search_graph.h) the step is eager.
absl::StatusOr<Runners> MakeRunners(const RunnerChoice& choice, const InferenceConfig& config,
                                    const WorldModel& model, KVCacheManager* cache,
                                    RootContexts* contexts, const EngineDevice& device);

// Bytes that MakeRunners keeps for good.
int64_t RunnersBytes(Runner runner, const InferenceConfig& config, const ModelConfig& model,
                     const WorldModelShape& shape, int64_t num_envs);

// Nodes of the graphs that they record on a CUDA device; 0 for runners that record none.
int64_t RunnersGraphNodes(Runner runner, int64_t num_layers, int64_t num_envs);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_RUNNERS_H_
