// Roots on packed weights (lzero/family/unizero/packed), next to a PackedStep. With a vector
// encoder no libtorch operation runs and nothing is allocated; other encoders run in libtorch, the
// tokens do not. Shapes as in RootRunner; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/family/unizero/packed/packed_network.h"
#include "lzero/family/unizero/root_contexts.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

class PackedRoots : public RootRunner {
 public:
  // All outlive the object; `contexts` writes into `cache`. `network` holds the weights of `model`.
  PackedRoots(const WorldModel& model, packed::PackedNetwork* network, KVCacheManager* cache,
              RootContexts* contexts);
  // Bytes of its buffers.
  static int64_t Bytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_roots);

  absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                       const RootOutputs& outputs) override;
  absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                        const RootOutputs& outputs) override;

 private:
  // Appends the newest `num_steps` observations of a root to observations_.
  void AppendObservations(const Root& root, int64_t num_steps);
  // Encodes all observations_ into latents_, with libtorch.
  absl::Status EncodeElsewhere();
  void CopyOut(absl::Span<const int> rows, const RootOutputs& outputs) const;

  const WorldModel& model_;
  packed::PackedNetwork* network_;
  KVCacheManager* cache_;
  RootContexts* contexts_;
  int64_t observation_size_;
  int64_t max_past_steps_;
  ContextBatch context_batch_;
  // The host's side; keeps its memory between calls.
  std::vector<packed::RootPast> pasts_;
  std::vector<ContextKey> keys_;
  std::vector<float> observations_, latents_, tokens_, values_, prior_logits_, action_values_;
  std::vector<int64_t> actions_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_
