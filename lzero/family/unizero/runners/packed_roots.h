// Roots on packed weights (lzero/family/unizero/packed), next to a PackedStep. With a vector
// encoder no libtorch operation runs and nothing is allocated; other encoders run in libtorch, the
// tokens do not. Shapes as in RootRunner; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_

#include <cstdint>
#include <memory>

#include "lzero/family/unizero/root_contexts.h"
#include "lzero/family/unizero/runners/packed_step.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// All outlive the runner; `contexts` writes into `cache`. `network` holds the weights of `model`.
std::unique_ptr<RootRunner> MakePackedRoots(const WorldModel& model, PackedStep* step,
                                            KVCacheManager* cache, RootContexts* contexts);
// Bytes of its buffers.
int64_t PackedRootsBytes(const ModelConfig& config, const WorldModelShape& shape,
                         int64_t max_roots);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_ROOTS_H_
