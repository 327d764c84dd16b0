// Roots in plain libtorch operations on any device: the oracle for other runners. Shapes as in
// RootRunner; no gradients. May allocate temporaries. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/family/unizero/root_contexts.h"
#include "lzero/family/unizero/root_inputs.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class EagerRoots : public RootRunner {
 public:
  // All outlive the object; `contexts` writes into `cache`. Errors as Staging.
  static absl::StatusOr<std::unique_ptr<EagerRoots>> Create(const WorldModel& model,
                                                            KVCacheManager* cache,
                                                            RootContexts* contexts);
  // Bytes of its buffers.
  static int64_t Bytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_roots);

  absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                       const RootOutputs& outputs) override;
  absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                        const RootOutputs& outputs) override;

 private:
  EagerRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts,
             std::unique_ptr<RootInputs> inputs);

  // Writes the heads of y [rows, E] into the outputs at `rows`.
  absl::Status Read(const at::Tensor& y, absl::Span<const int> rows, const RootOutputs& outputs);

  const WorldModel& model_;
  KVCacheManager* cache_;
  RootContexts* contexts_;
  std::unique_ptr<RootInputs> inputs_;
  ContextBatch context_batch_;
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
