// Roots in plain libtorch operations on any device: the oracle for other runners. Shapes as in
// RootRunner; no gradients. May allocate temporaries. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_

#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/root_inputs.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class EagerRoots : public RootRunner {
 public:
  // All outlive the runner; `contexts` writes into `cache`. Has buffers for `max_roots` roots, the
  // cache's environments at least. Allocates; call it inside CatchTorch.
  EagerRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts,
             int64_t max_roots);
  EagerRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts)
      : EagerRoots(model, cache, contexts, cache->config().num_envs) {}
  // Bytes of its buffers.
  static int64_t Bytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_roots);

  absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                       const RootOutputs& outputs) override;
  absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                        const RootOutputs& outputs) override;

 protected:
  // Computes the first `num_rows` rows of what was staged: logits_, values_, and the contexts,
  // [rows, T, L, 2, E] with the newest token last. Rebuild: T = 2 num_past + 1.
  at::Tensor ComputePasts(int64_t num_rows, int64_t num_past);
  // T = W + 1: the cached context and both tokens.
  at::Tensor ComputeSteps(int64_t num_rows);

  // What a runner of graphs does in place of them.
  virtual absl::StatusOr<at::Tensor> RunPasts(int64_t num_rows, int64_t num_past) {
    return ComputePasts(num_rows, num_past);
  }
  virtual absl::StatusOr<at::Tensor> RunSteps(int64_t num_rows) { return ComputeSteps(num_rows); }
  // Steps that every past has room for.
  virtual int64_t least_past() const { return 0; }

  const WorldModel& model_;

 private:
  // Copies the heads' outputs out.
  absl::Status Read(absl::Span<const int> rows, const RootOutputs& outputs);
  void WriteHeads(const at::Tensor& y);

  KVCacheManager* cache_;
  RootContexts* contexts_;
  RootInputs inputs_;
  ContextTensors context_batch_;
  // Between host and device.
  Staging lengths_;  // [max_roots] of context_batch_
  Staging logits_;   // [max_roots, policy size]
  Staging values_;   // [max_roots]
  std::vector<ContextKey> keys_;
  std::vector<RootTokens> stored_;
  std::vector<int64_t> host_lengths_;
  std::vector<float> host_logits_, host_values_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_
