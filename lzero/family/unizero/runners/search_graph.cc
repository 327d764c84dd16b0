#include "lzero/family/unizero/runners/search_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/graph_step.h"
#include "lzero/mcts/device/device_search.h"
#include "lzero/mcts/tree/tree_view.h"
#include "lzero/tensor/staging.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// Simulations of a warm-up.
constexpr int64_t kWarmUpSimulations = 2;
// Buckets that are recorded, and simulations in all of them together; each is some forty launches,
// which cost time to record and memory to keep.
constexpr int64_t kMaxBuckets = 3, kMaxRecorded = 1000;

// The largest buckets, as many as may be recorded, one at least: smaller batches run in the
// smallest of them.
std::vector<int64_t> SearchBuckets(int64_t num_envs, int64_t num_simulations) {
  std::vector<int64_t> buckets = BucketsUpTo(num_envs);
  const int64_t most = std::clamp<int64_t>(kMaxRecorded / num_simulations, 1, kMaxBuckets);
  const int64_t dropped = std::max<int64_t>(0, static_cast<int64_t>(buckets.size()) - most);
  buckets.erase(buckets.begin(), buckets.begin() + dropped);
  return buckets;
}

// Between host and device, or the device's alone. M rows: the largest bucket.
struct SearchArrays {
  Staging root_logits, root_values;     // [M, A], [M]
  Staging lent;                         // [M, LentRowSize(W - 1)] int64
  at::Tensor rows;                      // [M, StepRowSize(W - 1, 0)] int64
  at::Tensor rewards, values;           // [M]
  at::Tensor prior_logits;              // [M, A]
  at::Tensor discounts;                 // [M]
  at::Tensor nodes, actions, children;  // [M] int32
  at::Tensor parents;                   // [M, num_nodes] int32
};

absl::StatusOr<SearchArrays> MakeArrays(const SearchConfig& config, double discount,
                                        const WorldModel& model, int64_t num_rows) {
  return CatchTorch([&]() -> absl::StatusOr<SearchArrays> {
    const int64_t window = model.transformer().context_length() - 1;
    const auto floats = at::TensorOptions().device(model.device());
    const auto numbers = floats.dtype(at::kInt);
    return SearchArrays{
        .root_logits = Staging::Wrap("prior logits of the roots of a search graph",
                                     at::zeros({num_rows, model.shape().num_actions}, floats)),
        .root_values =
            Staging::Wrap("values of the roots of a search graph", at::zeros({num_rows}, floats)),
        .lent = Staging::Wrap("slots of a search graph",
                              at::zeros({num_rows, LentRowSize(window)}, floats.dtype(at::kLong))),
        .rows = at::zeros({num_rows, StepRowSize(static_cast<int>(window), 0)},
                          floats.dtype(at::kLong)),
        .rewards = at::zeros({num_rows}, floats),
        .values = at::zeros({num_rows}, floats),
        .prior_logits = at::zeros({num_rows, model.shape().num_actions}, floats),
        .discounts = at::full({num_rows}, discount, floats),
        .nodes = at::zeros({num_rows}, numbers),
        .actions = at::zeros({num_rows}, numbers),
        .children = at::zeros({num_rows}, numbers),
        .parents = at::zeros({num_rows, config.NodesPerRoot()}, numbers)};
  });
}

class SearchGraph : public Searcher {
 public:
  SearchGraph(const SearchConfig& config, const SearchGraphParts& parts,
              std::vector<int64_t> buckets, SearchArrays arrays,
              std::unique_ptr<DeviceSearch> search)
      : config_(config),
        parts_(parts),
        backend_(parts.device->backend.get()),
        stream_(static_cast<DeviceStream>(backend_->stream())),
        buckets_(std::move(buckets)),
        arrays_(std::move(arrays)),
        search_(std::move(search)) {
    // Addresses that the recorded work keeps: of the cache, the step and the search.
    const KVCacheManagerConfig& cache = parts.cache->config();
    int32_t* nodes = arrays_.nodes.mutable_data_ptr<int32_t>();
    int32_t* actions = arrays_.actions.mutable_data_ptr<int32_t>();
    int32_t* children = arrays_.children.mutable_data_ptr<int32_t>();
    contexts_ = {
        .lent = arrays_.lent.tensor().const_data_ptr<int64_t>(),
        .parents = arrays_.parents.mutable_data_ptr<int32_t>(),
        .window = static_cast<int32_t>(cache.context_length - 1),
        .num_nodes = static_cast<int32_t>(config.NodesPerRoot()),
    };
    context_step_ = {
        .nodes = nodes,
        .actions = actions,
        .children = children,
        .rows = arrays_.rows.mutable_data_ptr<int64_t>(),
    };
    place_ = {
        .rows = {context_step_.rows, contexts_.window, static_cast<int32_t>(arrays_.rows.size(1))},
        .pool = static_cast<float*>(const_cast<void*>(parts.cache->storage_address())),
        .rewards = arrays_.rewards.mutable_data_ptr<float>(),
        .values = arrays_.values.mutable_data_ptr<float>(),
        .prior_logits = arrays_.prior_logits.mutable_data_ptr<float>(),
    };
    queries_ = {nodes, actions, children};
    outputs_ = {place_.rewards, arrays_.discounts.const_data_ptr<float>(), place_.values,
                place_.prior_logits};
    // Scratch of the host.
    envs_.reserve(static_cast<size_t>(buckets_.back()));
    host_lent_.assign(static_cast<size_t>(arrays_.lent.tensor().numel()), 0);
  }

  ~SearchGraph() override {
    const absl::Status unloaded = backend_->Unload(std::move(graphs_));
    if (!unloaded.ok()) LZ_LOG_ERROR("unloading the graphs of a search: ", unloaded.message());
  }

  absl::Status CaptureAll() {
    LZ_RETURN_IF_ERROR(search_->Prepare({}, {}));  // every row idle
    graphs_.resize(buckets_.size());
    // The largest first: smaller ones then fit into the memory it left behind.
    for (size_t i = buckets_.size(); i-- > 0;) {
      const int num_rows = static_cast<int>(buckets_[i]);
      absl::Status launched;
      const auto warm_up = [&] {
        launched.Update(Launch(num_rows, std::min(kWarmUpSimulations, config_.num_simulations)));
      };
      // Kept by graphs that replay by calling again, which the tests' do.
      const auto record = [this, num_rows] {
        recorded_ = Launch(num_rows, config_.num_simulations);
      };
      absl::Status status = backend_->WarmUp(kWarmUps, warm_up);
      status.Update(launched);
      LZ_RETURN_IF_ERROR(Annotate(status, absl::StrCat("warming up a search of ", num_rows)));
      absl::StatusOr<std::unique_ptr<CapturedGraph>> graph = backend_->Capture(record);
      status = graph.status();
      if (status.ok()) status = recorded_;
      if (!status.ok()) {
        return absl::FailedPreconditionError(
            absl::StrCat("recording a search of ", num_rows, ": ", status.message()));
      }
      graphs_[i] = *std::move(graph);
    }
    return absl::OkStatus();
  }

  absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                   const SearchRequest& request, SearchResult* result) override {
    LZ_RETURN_IF_ERROR(search_->Prepare(roots, request));
    if (roots.empty()) {
      result->Resize(0, static_cast<size_t>(num_actions()));
      result->mean_depth = 0.0;
      return absl::OkStatus();
    }
    model.BeginSearch(request);
    host_logits_.resize(roots.size() * static_cast<size_t>(num_actions()));
    host_values_.resize(roots.size());
    LZ_RETURN_IF_ERROR(
        model.InitialInference(roots, absl::MakeSpan(host_logits_), absl::MakeSpan(host_values_)));
    const ScopedTimer timer(parts_.network_time);
    const size_t bucket = BucketOf(buckets_, static_cast<int64_t>(roots.size()));
    absl::Status staged;
    LZ_RETURN_IF_ERROR(backend_->OnStream([&] { staged = StageRoots(roots, buckets_[bucket]); }));
    LZ_RETURN_IF_ERROR(staged);
    LZ_RETURN_IF_ERROR(graphs_[bucket]->Replay());
    LZ_RETURN_IF_ERROR(backend_->Wait());
    return search_->Read(roots, result);
  }

  const SearchConfig& config() const override { return config_; }
  int num_actions() const override { return search_->num_actions(); }

 private:
  absl::Status LaunchStep(int num_rows) {
    const ContextFunctions& contexts = *parts_.device->context_functions;
    const int error = contexts.prepare_rows(&contexts_, &context_step_, num_rows, stream_);
    if (error != 0) {
      return absl::InternalError(
          absl::StrCat("the search graph cannot find contexts: ", contexts.error_text(error)));
    }
    return parts_.network->LaunchStep(place_, num_rows, stream_);
  }

  // Puts a whole search of `num_rows` rows on the stream.
  absl::Status Launch(int num_rows, int64_t num_simulations) {
    LZ_RETURN_IF_ERROR(search_->Upload(stream_));
    LZ_RETURN_IF_ERROR(search_->Begin(num_rows,
                                      {arrays_.root_logits.tensor().const_data_ptr<float>(),
                                       arrays_.root_values.tensor().const_data_ptr<float>()},
                                      stream_));
    LZ_RETURN_IF_ERROR(search_->Select(num_rows, queries_, stream_));
    for (int64_t simulation = 1; simulation <= num_simulations; ++simulation) {
      LZ_RETURN_IF_ERROR(LaunchStep(num_rows));
      LZ_RETURN_IF_ERROR(simulation < num_simulations
                             ? search_->ExpandAndSelect(num_rows, outputs_, queries_, stream_)
                             : search_->Expand(num_rows, outputs_, stream_));
    }
    LZ_RETURN_IF_ERROR(search_->Finish(num_rows, stream_));
    return search_->Download(stream_);
  }

  absl::Status StageRoots(absl::Span<const Root> roots, int64_t num_rows) {
    envs_.clear();
    for (const Root& root : roots) envs_.push_back(root.env);
    const size_t row_size = host_lent_.size() / static_cast<size_t>(buckets_.back());
    const auto rows = absl::MakeSpan(host_lent_).first(static_cast<size_t>(num_rows) * row_size);
    LZ_RETURN_IF_ERROR(parts_.cache->LendNodes(envs_, rows));
    // Idle rows: no context, and nothing is stored.
    std::fill(rows.begin() + static_cast<ptrdiff_t>(roots.size() * row_size), rows.end(), 0);
    LZ_RETURN_IF_ERROR(arrays_.lent.CopyInAsync(absl::Span<const int64_t>(rows)));
    LZ_RETURN_IF_ERROR(arrays_.root_logits.CopyInAsync(absl::Span<const float>(host_logits_)));
    return arrays_.root_values.CopyInAsync(absl::Span<const float>(host_values_));
  }

  SearchConfig config_;
  SearchGraphParts parts_;
  GraphBackend* backend_;
  DeviceStream stream_;
  std::vector<int64_t> buckets_;
  SearchArrays arrays_;
  SearchContexts contexts_;
  ContextStep context_step_;
  StepPlace place_;
  DeviceQueries queries_;
  DeviceStepOutputs outputs_;
  std::unique_ptr<DeviceSearch> search_;
  absl::Status recorded_;                               // of the last capture
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;  // [buckets]
  std::vector<EnvId> envs_;                             // scratch
  std::vector<int64_t> host_lent_;                      // scratch
  std::vector<float> host_logits_, host_values_;        // scratch: [B, A], [B]
};

}  // namespace

absl::StatusOr<std::unique_ptr<Searcher>> MakeSearchGraph(const SearchConfig& config,
                                                          double discount,
                                                          const SearchGraphParts& parts) {
  const KVCacheManagerConfig& cache = parts.cache->config();
  if (cache.storage != CacheStorage::kStatic) {
    return absl::FailedPreconditionError(
        "a search graph keeps the addresses it saw, growing storage moves; use static storage");
  }
  LZ_CHECK(cache.nodes_per_env > config.num_simulations, cache.nodes_per_env, " nodes for ",
           config.num_simulations, " simulations");
  // Allocate arrays and trees on the stream of the backend.
  std::vector<int64_t> buckets = SearchBuckets(cache.num_envs, config.num_simulations);
  std::unique_ptr<SearchGraph> made;
  absl::Status status;
  LZ_RETURN_IF_ERROR(parts.device->backend->OnStream([&] {
    status = [&]() -> absl::Status {
      const int64_t num_rows = buckets.back();
      LZ_ASSIGN_OR_RETURN(SearchArrays arrays,
                          MakeArrays(config, discount, *parts.model, num_rows));
      const int num_actions = static_cast<int>(parts.model->shape().num_actions);
      LZ_ASSIGN_OR_RETURN(auto search,
                          DeviceSearch::Create(config, num_actions, static_cast<int>(num_rows),
                                               *parts.device->search_functions));
      made = std::make_unique<SearchGraph>(config, parts, std::move(buckets), std::move(arrays),
                                           std::move(search));
      return absl::OkStatus();
    }();
  }));
  LZ_RETURN_IF_ERROR(status);
  // Record a graph for each bucket.
  LZ_RETURN_IF_ERROR(made->CaptureAll());
  return made;
}

int64_t SearchGraphBytes(const SearchConfig& config, const ModelConfig& model,
                         const WorldModelShape& shape, int64_t num_envs) {
  const int64_t rows = BucketsUpTo(num_envs).back(), num_nodes = config.NodesPerRoot();
  const int64_t window = model.context_length - 1;
  const int64_t floats = rows * (2 * shape.num_actions + 4);
  const int64_t ints = rows * (3 + num_nodes);
  const int64_t longs = rows * (LentRowSize(window) + StepRowSize(static_cast<int>(window), 0));
  return 4 * (floats + ints) + 8 * longs +
         TreeLayout::Of(rows, num_nodes, static_cast<int>(shape.num_actions)).num_bytes;
}

int64_t SearchGraphNodes(int64_t num_layers, int64_t num_envs, int64_t num_simulations) {
  // Rows, and expand with select; upload, begin, the first select, finish and download.
  constexpr int64_t kAroundStep = 2, kAroundSearch = 5;
  const auto num_buckets = static_cast<int64_t>(SearchBuckets(num_envs, num_simulations).size());
  return num_buckets *
         (num_simulations * (GraphStepNodes(num_layers) + kAroundStep) + kAroundSearch);
}

}  // namespace lzero
