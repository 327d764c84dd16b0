// Roots in plain libtorch operations on any device: the oracle for other runners. Shapes as in
// RootRunner; no gradients. May allocate temporaries. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_

#include <cstdint>
#include <memory>

#include "lzero/family/unizero/root_contexts.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// All outlive the runner; `contexts` writes into `cache`. Allocates; call it inside CatchTorch.
std::unique_ptr<RootRunner> MakeEagerRoots(const WorldModel& model, KVCacheManager* cache,
                                           RootContexts* contexts);
// Bytes of its buffers.
int64_t EagerRootsBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_roots);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_ROOTS_H_
