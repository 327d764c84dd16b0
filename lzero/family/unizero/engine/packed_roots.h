// Roots on packed weights, next to a PackedStep. Nothing is allocated once they have run. Shapes as
// in RootRunner. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_PACKED_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_PACKED_ROOTS_H_

#include <cstdint>
#include <memory>

#include "lzero/family/unizero/engine/packed_step.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// All outlive the runner, which runs the network of `step`; `contexts` writes into `cache`.
std::unique_ptr<RootRunner> MakePackedRoots(PackedStep* step, KVCacheManager* cache,
                                            RootContexts* contexts);
// Bytes of its buffers.
int64_t PackedRootsBytes(const ModelConfig& config, const WorldModelShape& shape,
                         int64_t max_roots);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_PACKED_ROOTS_H_
