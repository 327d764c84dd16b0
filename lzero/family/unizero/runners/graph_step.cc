#include "lzero/family/unizero/runners/graph_step.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_step.h"

namespace lzero {
namespace {

// Runs of a bucket before its capture: lazy loading, workspaces and choices of algorithms happen in
// these, not while recording.
constexpr int kWarmUps = 3;

class GraphStep : public RecurrentStep {
 public:
  GraphStep(const WorldModel& model, std::vector<int64_t> buckets, GraphBackend* backend)
      : RecurrentStep(MakeStepBuffers(model, buckets.back())),
        backend_(backend),
        buckets_(std::move(buckets)) {}

  ~GraphStep() override {
    const absl::Status unloaded = backend_->Unload(std::move(graphs_));
    if (!unloaded.ok()) LZ_LOG_ERROR("unloading the graphs of a step: ", unloaded.message());
  }

  absl::Status CaptureAll(const WorldModel& model) {
    // The largest first: smaller ones then fit into the memory it left behind.
    graphs_.resize(buckets_.size());
    for (size_t i = buckets_.size(); i-- > 0;) {
      const auto body = [this, &model, batch = buckets_[i]] {
        RunEagerStep(model, batch, buffers_);
      };
      LZ_RETURN_IF_ERROR(Annotate(backend_->WarmUp(kWarmUps, body),
                                  absl::StrCat("warming up a step of ", buckets_[i])));
      absl::StatusOr<std::unique_ptr<CapturedGraph>> graph = backend_->Capture(body);
      if (!graph.ok()) {
        return Annotate(graph.status(), absl::StrCat("recording a step of ", buckets_[i]));
      }
      graphs_[i] = *std::move(graph);
    }
    return absl::OkStatus();
  }

  std::string name() const override { return "cuda_graph"; }
  absl::Status Run(int64_t batch_size) override {
    if (batch_size < 1 || batch_size > buckets_.back()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step of ", batch_size, " rows; captured for 1 .. ", buckets_.back()));
    }
    return graphs_[BucketOf(buckets_, batch_size)]->Replay();
  }
  void OnWeightsChanged() override {}

 private:
  GraphBackend* backend_;
  std::vector<int64_t> buckets_;
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;  // [buckets]
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeGraphStep(const WorldModel& model,
                                                             int64_t max_batch,
                                                             GraphBackend* backend) {
  auto step = std::make_unique<GraphStep>(model, BucketsUpTo(max_batch), backend);
  LZ_RETURN_IF_ERROR(step->CaptureAll(model));
  return step;
}

}  // namespace lzero
