// Whole searches inside the memory of a device, recorded once for each batch bucket and replayed:
// one launch a search. Trees, contexts and the model's step stay on the device; the roots' outputs
// go in, the results come out once. Equal to Search with the same step (search.h). Rows beyond the
// roots are idle: they compute on empty contexts and store nothing. Weights are read where they
// are. Arrays are float32 unless said; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/base/stopwatch.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/device/device_network.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/mcts/searcher.h"

namespace lzero {

// What a search graph works with; everything outlives it.
struct SearchGraphParts {
  const WorldModel* model = nullptr;
  KVCacheManager* cache = nullptr;  // static storage; nodes for every simulation
  const EngineDevice* device = nullptr;
  const DeviceNetwork* network = nullptr;  // of the model, for BucketsUpTo(num_envs) rows
  Stopwatch* network_time = nullptr;       // of the engine: simulations count too
};

// Allocates buffers and trees, warms up and captures the buckets up to the one that holds
// cache->config().num_envs roots, the largest three or as many as 1,000 simulations in all allow:
// fewer roots run in the smallest of them. `discount`: what a
// child's value is multiplied with. FailedPrecondition with the cause when the device refuses to
// capture; ResourceExhausted when it has no room. The model that a search is given evaluates the
// roots and must be the one whose network and cache were captured. The host waits for the roots'
// outputs, and once for all simulations. When the searcher goes, all of the backend's graphs are
// unloaded together, then the trees are freed.
absl::StatusOr<std::unique_ptr<Searcher>> MakeSearchGraph(const SearchConfig& config,
                                                          double discount,
                                                          const SearchGraphParts& parts);
// Bytes of the arrays and trees that it keeps for good, on the device; what the device itself needs
// for graphs comes on top.
int64_t SearchGraphBytes(const SearchConfig& config, const ModelConfig& model,
                         const WorldModelShape& shape, int64_t num_envs);

// Nodes of all its graphs: of each simulation a step with what selects and expands around it.
int64_t SearchGraphNodes(int64_t num_layers, int64_t num_envs, int64_t num_simulations);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_
