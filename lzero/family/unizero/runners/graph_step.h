// The recurrent step in libtorch operations, captured once for each batch bucket and replayed: one
// launch a simulation instead of a hundred. Any device that has a GraphBackend. A batch runs in the
// smallest bucket that holds it; idle rows are computed and belong to nobody. Weights are read
// where they are, so an update in place takes effect at the next replay. Shapes as in StepBuffers;
// no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/graph/graph_backend.h"

namespace lzero {

class GraphStep : public RecurrentStep {
 public:
  // Warms up and captures every bucket up to the one of `max_batch`. `model`, on the backend's
  // device, and `backend` must outlive the step. FailedPrecondition with the cause when the device
  // refuses to capture.
  static absl::StatusOr<std::unique_ptr<GraphStep>> Create(const WorldModel& model,
                                                           int64_t max_batch,
                                                           GraphBackend* backend);
  // Unloads the graphs, all of the backend's together.
  ~GraphStep() override;

  std::string name() const override { return "cuda_graph"; }
  // Puts the replay on the backend's stream and returns at once. InvalidArgument for more rows than
  // fit.
  absl::Status Run(int64_t batch_size) override;
  void OnWeightsChanged() override {}

  const std::vector<int64_t>& buckets() const { return buckets_; }

 private:
  GraphStep(const WorldModel& model, std::vector<int64_t> buckets, GraphBackend* backend);
  absl::Status CaptureAll(const WorldModel& model);

  GraphBackend* backend_;
  std::vector<int64_t> buckets_;
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;  // [buckets]
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
