// Initial and recurrent inference of the world model for one role (collector, evaluator or
// reanalyzer): its own copy of the weights, its own KVCacheManager, one step runner. Implements the
// interface that search needs. Roles reach the cache through that interface alone, the engine
// through the manager alone. Root contexts are exact: continued from the previous step's while the
// weights stay the same, rebuilt from the last L (W - 1) tokens otherwise. Spans have the shapes of
// InferenceModel, float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_UNIZERO_INFERENCE_H_
#define LZERO_FAMILY_UNIZERO_UNIZERO_INFERENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/device/device_network.h"
#include "lzero/family/unizero/root_contexts.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

struct RootStats {
  int64_t rebuilt = 0;    // roots computed from their past steps
  int64_t continued = 0;  // roots continued from the cached context of the step before
  int64_t carried = 0;  // of those, from a window with keys of older weights (root_context: carry)
};

class UniZeroInference : public PolicyEngine {
 public:
  // Allocates weights, cache and step buffers. The weights are those of a fresh model of seed 0, of
  // no use until the first CopyWeightsFrom.
  static absl::StatusOr<std::unique_ptr<UniZeroInference>> Create(const EngineOptions& options);
  // The same on a device that was made already, whatever options.inference.device says.
  static absl::StatusOr<std::unique_ptr<UniZeroInference>> CreateOn(const EngineOptions& options,
                                                                    EngineDevice device);
  // Bytes that Create keeps for good: weights, cache, contexts of roots, buffers of the step.
  // Nothing is allocated. Errors as those of the cache.
  static absl::StatusOr<int64_t> PlannedBytes(const EngineOptions& options);
  // Nodes of the graphs that it records on a CUDA device; 0 where it records none.
  static int64_t GraphNodes(const EngineOptions& options);
  ~UniZeroInference() override;

  void EndEpisode(EnvId env) override { cache_->EndEpisode(env); }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;
  // Runner cuda_search_graph. A capture that fails is an error only where graphs are required; else
  // it is logged, and the searcher is null.
  absl::StatusOr<std::unique_ptr<Searcher>> MakeDeviceSearcher() override;

  // The cached contexts of the roots; errors as RootContexts.
  absl::StatusOr<std::vector<NamedArray>> ExportRoots() const override;
  absl::Status ImportRoots(absl::Span<const NamedArray> arrays) override;

  KVCacheManager& cache() { return *cache_; }
  std::vector<std::pair<std::string, double>> metrics(bool same_every_run) const override;
  const RootStats& root_stats() const { return root_stats_; }
  std::string runner_name() const override;
  const WorldModel& model() const { return model_; }

 private:
  UniZeroInference(const EngineOptions& options, EngineDevice engine_device,
                   std::shared_ptr<WorldModel> model, std::unique_ptr<KVCacheManager> cache,
                   std::unique_ptr<RootContexts> contexts, Runners runners);
  // Contexts of older weights are dropped (root_context: carry keeps the roots').
  void OnWeightsChanged() override;
  absl::Status EvaluateRoots(absl::Span<const Root> roots, const RootOutputs& outputs);
  bool CanContinue(const Root& root) const;

  const WorldModel& model_;
  std::unique_ptr<KVCacheManager> cache_;
  std::unique_ptr<RootContexts> contexts_;
  std::unique_ptr<RecurrentStep> step_;
  std::unique_ptr<DeviceNetwork> search_network_;  // of the searcher of MakeDeviceSearcher
  std::unique_ptr<RootRunner> roots_;
  RootStats root_stats_;
  std::vector<EnvId> envs_;               // of the last InitialInference
  std::vector<int> rebuilt_, continued_;  // rows of its roots
  std::vector<ContextKey> parent_keys_;
  std::vector<ChildKey> child_keys_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_UNIZERO_INFERENCE_H_
