#include "lzero/family/unizero/runners/graph_roots.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/tensor/product_precision.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// Buckets that are recorded: smaller batches run in the smallest of them.
constexpr size_t kMostBuckets = 3;

std::vector<int64_t> RootBuckets(int64_t num_envs) {
  std::vector<int64_t> buckets = BucketsUpTo(num_envs);
  const size_t dropped = buckets.size() - std::min(buckets.size(), kMostBuckets);
  buckets.erase(buckets.begin(), buckets.begin() + static_cast<ptrdiff_t>(dropped));
  return buckets;
}

// Tokens of the longest past, its root's observation included, or of a context and two tokens more.
int64_t MostTokens(const ModelConfig& config) {
  return std::max(2 * NumRootPastSteps(config) + 1, config.context_length + 1);
}

class GraphRoots : public EagerRoots {
 public:
  GraphRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts,
             std::vector<int64_t> buckets, GraphBackend* backend)
      : EagerRoots(model, cache, contexts, buckets.back()),
        backend_(backend),
        buckets_(std::move(buckets)),
        num_past_(NumRootPastSteps(model.config())),
        tokens_(at::zeros({buckets_.back() * MostTokens(model.config()),
                           model.transformer().num_layers(), 2, model.config().embed_dim},
                          at::TensorOptions().device(model.device()))) {}

  ~GraphRoots() override {
    for (auto& graph : steps_) pasts_.push_back(std::move(graph));
    const absl::Status unloaded = backend_->Unload(std::move(pasts_));
    if (!unloaded.ok()) LZ_LOG_ERROR("unloading the graphs of roots: ", unloaded.message());
  }

  absl::Status CaptureAll(bool rounds) {
    const ProductPrecision precision(rounds, backend_->device());
    pasts_.resize(buckets_.size());
    steps_.resize(buckets_.size());
    // The largest first: smaller ones then fit into the memory it left behind.
    for (size_t i = buckets_.size(); i-- > 0;) {
      const int64_t num_rows = buckets_[i];
      LZ_RETURN_IF_ERROR(Capture([this, num_rows] { return ComputePasts(num_rows, num_past_); },
                                 num_rows, &pasts_[i]));
      LZ_RETURN_IF_ERROR(
          Capture([this, num_rows] { return ComputeSteps(num_rows); }, num_rows, &steps_[i]));
    }
    return absl::OkStatus();
  }

 protected:
  absl::StatusOr<at::Tensor> RunPasts(int64_t num_rows, int64_t /*num_past*/) override {
    LZ_RETURN_IF_ERROR(pasts_[BucketOf(buckets_, num_rows)]->Replay());
    return Tokens(num_rows, 2 * num_past_ + 1);
  }
  absl::StatusOr<at::Tensor> RunSteps(int64_t num_rows) override {
    LZ_RETURN_IF_ERROR(steps_[BucketOf(buckets_, num_rows)]->Replay());
    return Tokens(num_rows, model_.config().context_length + 1);
  }
  int64_t least_past() const override { return num_past_; }

 private:
  // [num_rows, num_tokens, L, 2, E], outside of the graphs' memory.
  at::Tensor Tokens(int64_t num_rows, int64_t num_tokens) const {
    return tokens_.narrow(0, 0, num_rows * num_tokens).unflatten(0, {num_rows, num_tokens});
  }
  template <typename Compute>
  absl::Status Capture(const Compute& compute, int64_t num_rows,
                       std::unique_ptr<CapturedGraph>* graph) {
    const auto body = [this, compute] {
      const c10::InferenceMode inference;
      const at::Tensor tokens = compute();
      Tokens(tokens.size(0), tokens.size(1)).copy_(tokens);
    };
    LZ_RETURN_IF_ERROR(Annotate(backend_->WarmUp(kWarmUps, body),
                                absl::StrCat("warming up ", num_rows, " roots")));
    absl::StatusOr<std::unique_ptr<CapturedGraph>> captured = backend_->Capture(body);
    if (!captured.ok()) {
      return Annotate(captured.status(), absl::StrCat("recording ", num_rows, " roots"));
    }
    *graph = *std::move(captured);
    return absl::OkStatus();
  }

  GraphBackend* backend_;
  std::vector<int64_t> buckets_;
  int64_t num_past_;
  at::Tensor tokens_;
  std::vector<std::unique_ptr<CapturedGraph>> pasts_, steps_;  // [buckets]
};

}  // namespace

absl::StatusOr<std::unique_ptr<RootRunner>> MakeGraphRoots(const WorldModel& model,
                                                           KVCacheManager* cache,
                                                           RootContexts* contexts,
                                                           InferenceDtype dtype,
                                                           GraphBackend* backend) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<RootRunner>> {
    auto roots = std::make_unique<GraphRoots>(model, cache, contexts,
                                              RootBuckets(cache->config().num_envs), backend);
    LZ_RETURN_IF_ERROR(roots->CaptureAll(dtype != InferenceDtype::kFp32));
    return roots;
  });
}

int64_t GraphRootsBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t num_envs) {
  const int64_t num_rows = RootBuckets(num_envs).back();
  return EagerRoots::Bytes(config, shape, num_rows) + num_rows * MostTokens(config) *
                                                          config.num_layers * 2 * config.embed_dim *
                                                          static_cast<int64_t>(sizeof(float));
}

int64_t GraphRootsNodes(int64_t num_layers, int64_t num_envs) {
  return (85 + 46 * num_layers) * static_cast<int64_t>(RootBuckets(num_envs).size());
}

}  // namespace lzero
