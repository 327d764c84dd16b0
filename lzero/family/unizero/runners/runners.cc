#include "lzero/family/unizero/runners/runners.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/family/unizero/runners/graph_roots.h"
#include "lzero/family/unizero/runners/graph_step.h"
#include "lzero/family/unizero/runners/packed_buffers_step.h"

namespace lzero {
namespace {

bool RecordsGraphs(Runner runner) {
  return runner == Runner::kCudaGraph || runner == Runner::kCudaSearchGraph;
}

absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeStep(Runner runner,
                                                        const InferenceConfig& config,
                                                        const WorldModel& model, int64_t max_batch,
                                                        const EngineDevice& device,
                                                        KVCacheManager* cache) {
  if (runner != Runner::kCudaGraph) return std::make_unique<EagerStep>(model, max_batch);
  LZ_CHECK(device.backend != nullptr, "a graph runner without a backend");
  absl::StatusOr<std::unique_ptr<RecurrentStep>> step =
      MakeGraphStep(model, max_batch, config.dtype, device, cache);
  if (step.ok() || config.graphs == Graphs::kRequired) return step;
  LogWithoutGraphs("steps", config, step.status());
  return std::make_unique<EagerStep>(model, max_batch);
}

absl::StatusOr<std::unique_ptr<RootRunner>> MakeRoots(Runner runner, const InferenceConfig& config,
                                                      const WorldModel& model,
                                                      KVCacheManager* cache, RootContexts* contexts,
                                                      const EngineDevice& device) {
  if (!RecordsGraphs(runner)) return std::make_unique<EagerRoots>(model, cache, contexts);
  auto roots = MakeGraphRoots(model, cache, contexts, config.dtype, device.backend.get());
  if (roots.ok() || config.graphs == Graphs::kRequired) return roots;
  LogWithoutGraphs("roots", config, roots.status());
  return std::make_unique<EagerRoots>(model, cache, contexts);
}

}  // namespace

void LogWithoutGraphs(const char* what, const InferenceConfig& config, const absl::Status& cause) {
  LZ_LOG_WARNING("no graphs, ", what, " run one operation after the other",
                 config.dtype == InferenceDtype::kFp32 ? "" : ", in fp32",
                 " (inference.graphs: preferred): ", cause.message());
}

absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeRecurrentStep(const InferenceConfig& config,
                                                                 const WorldModel& model,
                                                                 int64_t max_batch,
                                                                 const EngineDevice& device) {
  LZ_CHECK(max_batch > 0, "batch of ", max_batch);
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseRunner(config, /*search=*/nullptr));
  LogChoice(choice, /*owner=*/"");
  if (choice.runner == Runner::kPacked) {
    return std::make_unique<PackedBuffersStep>(
        model, PackedStepOptions{model.config(), model.shape(), max_batch, config.dtype,
                                 config.threads()});
  }
  if (choice.runner == Runner::kCudaSearchGraph) {
    return absl::InvalidArgumentError(
        "inference.runner: cuda_search_graph runs whole searches and has no step of its own");
  }
  return MakeStep(choice.runner, config, model, max_batch, device, /*cache=*/nullptr);
}

absl::StatusOr<Runners> MakeRunners(const RunnerChoice& choice, const InferenceConfig& config,
                                    const WorldModel& model, KVCacheManager* cache,
                                    RootContexts* contexts, const EngineDevice& device) {
  LogChoice(choice, cache->config().owner);
  const int64_t num_envs = cache->config().num_envs;
  Runners runners;
  LZ_ASSIGN_OR_RETURN(runners.step,
                      MakeStep(choice.runner, config, model, num_envs, device, cache));
  LZ_ASSIGN_OR_RETURN(runners.roots,
                      MakeRoots(choice.runner, config, model, cache, contexts, device));
  return runners;
}

int64_t RunnersBytes(Runner runner, const InferenceConfig& config, const ModelConfig& model,
                     const WorldModelShape& shape, int64_t num_envs) {
  const int64_t buffers = StepBuffersBytes(model, shape, num_envs);
  const int64_t roots = RecordsGraphs(runner) ? GraphRootsBytes(model, shape, num_envs)
                                              : EagerRoots::Bytes(model, shape, num_envs);
  if (runner != Runner::kCudaGraph) return buffers + roots;
  return GraphStepBytes(model, shape, num_envs, config.dtype) + roots;
}

int64_t RunnersGraphNodes(Runner runner, int64_t num_layers, int64_t num_envs) {
  if (!RecordsGraphs(runner)) return 0;
  const int64_t roots = GraphRootsNodes(num_layers, num_envs);
  if (runner == Runner::kCudaSearchGraph) return roots;
  return roots + GraphStepNodes(num_layers) * static_cast<int64_t>(BucketsUpTo(num_envs).size());
}

}  // namespace lzero
