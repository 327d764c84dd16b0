#include "lzero/family/unizero/runners/graph_step.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_step.h"

namespace lzero {
namespace {

// Runs of a bucket before its capture: lazy loading, workspaces and choices of algorithms happen in
// these, not while recording.
constexpr int kWarmUps = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<GraphStep>> GraphStep::Create(const WorldModel& model,
                                                             int64_t max_batch,
                                                             GraphBackend* backend) {
  auto step = absl::WrapUnique(new GraphStep(model, BucketsUpTo(max_batch), backend));
  LZ_RETURN_IF_ERROR(step->CaptureAll(model));
  return step;
}

GraphStep::GraphStep(const WorldModel& model, std::vector<int64_t> buckets, GraphBackend* backend)
    : RecurrentStep(MakeStepBuffers(model, buckets.back())),
      backend_(backend),
      buckets_(std::move(buckets)) {}

GraphStep::~GraphStep() {
  const absl::Status unloaded = backend_->Unload(std::move(graphs_));
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading the graphs of a step: ", unloaded.message());
}

absl::Status GraphStep::CaptureAll(const WorldModel& model) {
  // The largest first: smaller ones then fit into the memory it left behind.
  graphs_.resize(buckets_.size());
  for (size_t i = buckets_.size(); i-- > 0;) {
    const auto body = [this, &model, batch = buckets_[i]] { RunEagerStep(model, batch, buffers_); };
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

absl::Status GraphStep::Run(int64_t batch_size) {
  if (batch_size < 1 || batch_size > buckets_.back()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of ", batch_size, " rows; captured for 1 .. ", buckets_.back()));
  }
  return graphs_[BucketOf(buckets_, batch_size)]->Replay();
}

}  // namespace lzero
