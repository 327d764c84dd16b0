// Whole searches inside the memory of a device, recorded once for each batch bucket and replayed:
// one launch a search. Trees, contexts and the model's step stay on the device; the roots' outputs
// go in, the results come out once. Equal to Search with the same step (search.h). Rows beyond the
// roots are idle: they compute on empty contexts and store nothing. Weights are read where they
// are. Arrays are float32 unless said; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/stopwatch.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/kv_cache/context_functions.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/mcts/device/device_search.h"
#include "lzero/mcts/searcher.h"
#include "lzero/tensor/staging.h"

namespace lzero {

// What a search graph works with; everything outlives it.
struct SearchGraphParts {
  const WorldModel* model = nullptr;
  KVCacheManager* cache = nullptr;  // static storage; nodes for every simulation
  GraphBackend* backend = nullptr;
  const DeviceFunctions* search_functions = nullptr;
  const ContextFunctions* context_functions = nullptr;
  Stopwatch* network_time = nullptr;  // of the engine: simulations count too
};

class SearchGraph : public Searcher {
 public:
  // Allocates buffers and trees, warms up and captures the buckets up to the one that holds
  // cache->config().num_envs roots, as many as 1,000 simulations in all allow. `discount`: what a
  // child's value is multiplied with. FailedPrecondition with the cause when the device refuses to
  // capture; ResourceExhausted when it has no room.
  static absl::StatusOr<std::unique_ptr<SearchGraph>> Create(const SearchConfig& config,
                                                             double discount,
                                                             const SearchGraphParts& parts);
  // Unloads the graphs, all of the backend's together, then frees the trees.
  ~SearchGraph() override;

  // `model` evaluates the roots and must be the one whose network and cache were captured. The host
  // waits while the roots go in and once for all simulations.
  absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                   const SearchRequest& request, SearchResult* result) override;

  const SearchConfig& config() const override { return config_; }
  int num_actions() const override { return search_->num_actions(); }
  const std::vector<int64_t>& buckets() const { return buckets_; }
  // Bytes of the arrays and trees that Create keeps for good, on the device; what the device itself
  // needs for graphs comes on top.
  static int64_t Bytes(const SearchConfig& config, const ModelConfig& model,
                       const WorldModelShape& shape, int64_t num_envs);

 private:
  // Between host and device, or the device's alone. M rows: the largest bucket.
  struct Arrays {
    StepBuffers step;
    Staging root_logits, root_values;     // [M, A], [M]
    Staging lent;                         // [M, LentRowSize(W - 1)] int64
    at::Tensor discounts;                 // [M]
    at::Tensor nodes, actions, children;  // [M] int32
    at::Tensor parents;                   // [M, num_nodes] int32
  };

  SearchGraph(const SearchConfig& config, const SearchGraphParts& parts,
              std::vector<int64_t> buckets, Arrays arrays, std::unique_ptr<DeviceSearch> search);
  static absl::StatusOr<Arrays> MakeArrays(const SearchConfig& config, double discount,
                                           const WorldModel& model, int64_t num_rows);
  absl::Status CaptureAll();
  // Puts a whole search of `num_rows` rows on the stream.
  absl::Status Launch(int num_rows, int64_t num_simulations);
  absl::Status LaunchStep(int num_rows);
  absl::Status StageRoots(absl::Span<const Root> roots, int64_t num_rows);
  absl::Status StatusOf(int error, const char* what) const;

  SearchConfig config_;
  SearchGraphParts parts_;
  DeviceStream stream_;
  std::vector<int64_t> buckets_;
  Arrays arrays_;
  SearchContexts contexts_;
  ContextStep context_step_;
  DeviceQueries queries_;
  DeviceStepOutputs outputs_;
  std::unique_ptr<DeviceSearch> search_;
  absl::Status recorded_;                               // of the last capture
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;  // [buckets]
  std::vector<EnvId> envs_;                             // scratch
  std::vector<int64_t> host_lent_;                      // scratch
  std::vector<float> host_logits_, host_values_;        // scratch: [B, A], [B]
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_SEARCH_GRAPH_H_
