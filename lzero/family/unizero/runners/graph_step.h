// The recurrent step in libtorch operations, captured once for each batch bucket and replayed: one
// launch a simulation instead of a hundred. Any device that has a GraphBackend. A batch runs in the
// smallest bucket that holds it; idle rows are computed and belong to nobody. Weights are read
// where they are, so an update in place takes effect at the next replay. Shapes as in StepBuffers;
// no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/graph/graph_backend.h"

namespace lzero {

// Warms up and captures every bucket up to the one of `max_batch`. `model`, on the backend's
// device, and `backend` must outlive the step. FailedPrecondition with the cause when the device
// refuses to capture. Its Run returns at once, with the replay on the backend's stream;
// InvalidArgument for more rows than fit. When it goes, all of the backend's graphs are unloaded
// together.
absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeGraphStep(const WorldModel& model,
                                                             int64_t max_batch,
                                                             GraphBackend* backend);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
