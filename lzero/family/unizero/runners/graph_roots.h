// Roots computed as EagerRoots computes them, but recorded once for each batch bucket and replayed:
// one launch where a network with its encoder is some two hundred. Every past has room for all the
// steps that determine a context, so that shapes never change; rows beyond the roots are idle.
// Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_ROOTS_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_ROOTS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// Warms up and captures the largest buckets up to the one of all environments. Products round to
// TF32 unless `dtype` is fp32: operands stay float32 with bf16 too. All outlive the runner; call it
// with the backend's stream current. FailedPrecondition with the cause when the device refuses to
// capture. When it goes, all of the backend's graphs are unloaded together.
absl::StatusOr<std::unique_ptr<RootRunner>> MakeGraphRoots(const WorldModel& model,
                                                           KVCacheManager* cache,
                                                           RootContexts* contexts,
                                                           InferenceDtype dtype,
                                                           GraphBackend* backend);
// Bytes of its buffers.
int64_t GraphRootsBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t num_envs);

// Nodes of all graphs of such roots, counted on the null GPU: 131 a bucket with one layer and 46
// for each other one.
int64_t GraphRootsNodes(int64_t num_layers, int64_t num_envs);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_ROOTS_H_
