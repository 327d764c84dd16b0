// Initial and recurrent inference of the world model for one role (collector, evaluator or
// reanalyzer): its own KVCacheManager, one step runner, one root runner. Implements the interface
// that search needs. Roles reach the cache through that interface alone, the engine through the
// manager alone. Root contexts are exact: continued from the previous step's while the weights stay
// the same, rebuilt from the last L (W - 1) tokens otherwise. Where the weights are and how the
// runners compute is a subclass's: packed here, libtorch in ../unizero_engine.h. Spans have the
// shapes of InferenceModel, float32. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_UNIZERO_INFERENCE_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_UNIZERO_INFERENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/engine/step_runner.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

struct RootStats {
  int64_t rebuilt = 0;    // roots computed from their past steps
  int64_t continued = 0;  // roots continued from the cached context of the step before
  int64_t carried = 0;  // of those, from a window with keys of older weights (root_context: carry)
};

// The cache of such an engine, on the CPU.
KVCacheManagerConfig UniZeroCacheConfig(const EngineOptions& options);

class UniZeroInference : public PolicyEngine {
 public:
  void EndEpisode(EnvId env) override { cache_->EndEpisode(env); }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;

  // The cached contexts of the roots; errors as RootContexts.
  absl::StatusOr<std::vector<NamedArray>> ExportRoots() const override;
  absl::Status ImportRoots(absl::Span<const NamedArray> arrays) override;

  KVCacheManager& cache() { return *cache_; }
  std::vector<std::pair<std::string, double>> metrics(bool same_every_run) const override;
  const RootStats& root_stats() const { return root_stats_; }
  std::string runner_name() const override { return step_->name(); }

 protected:
  // step_ and roots_ are the subclass's to make.
  UniZeroInference(const EngineOptions& options, std::unique_ptr<KVCacheManager> cache);

  // Calls `body` where work of the runners goes.
  virtual absl::Status OnStream(absl::FunctionRef<absl::Status()> body) const { return body(); }
  // Drops everything that is kept.
  void Drop();

  std::unique_ptr<KVCacheManager> cache_;
  std::unique_ptr<RootContexts> contexts_;
  std::unique_ptr<StepRunner> step_;
  std::unique_ptr<RootRunner> roots_;

 private:
  absl::Status EvaluateRoots(absl::Span<const Root> roots, const RootOutputs& outputs);
  bool CanContinue(const Root& root) const;

  RootStats root_stats_;
  std::vector<EnvId> envs_;               // of the last InitialInference
  std::vector<int> rebuilt_, continued_;  // rows of its roots
  std::vector<ContextKey> parent_keys_;
  std::vector<ChildKey> child_keys_;
};

// The packed one, on the CPU: its weights are zeros until the first CopyWeightsFrom.
// InvalidArgument when the encoder does not fit the observations; errors of the cache.
absl::StatusOr<std::unique_ptr<UniZeroInference>> MakePackedUniZero(const EngineOptions& options);
// Bytes that it keeps for good; nothing is allocated. Errors as MakePackedUniZero.
absl::StatusOr<int64_t> PackedUniZeroBytes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_UNIZERO_INFERENCE_H_
