// The recurrent step captured once for each batch bucket and replayed (device_network.h): one
// launch a simulation, which reads contexts in the cache and writes the children's tokens there.
// For an engine a step is one copy in, one launch, one copy out and one wait. A batch runs in the
// smallest bucket that holds it; idle rows are computed and belong to nobody. Weights are read
// where they are, or derived again in place. Shapes as in StepBuffers; no gradients. Belongs to one
// thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/inference/tensor/engine_device.h"

namespace lzero {

// Warms up and captures every bucket up to the one of `max_batch`. `model`, on the device, and
// `device` must outlive the step. `cache`, of static storage, is what RunNodes reads and writes;
// null: there are buffers for Run instead. FailedPrecondition with the cause when the device
// refuses to capture; ResourceExhausted when it has no room. Run returns at once, with the replay
// on the device's stream; InvalidArgument for more rows than fit. When it goes, all graphs of the
// device's backend are unloaded together.
absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeGraphStep(const WorldModel& model,
                                                             int64_t max_batch,
                                                             InferenceDtype dtype,
                                                             const EngineDevice& device,
                                                             KVCacheManager* cache);

// Bytes of memory of the device that such a step with a cache keeps, but for the graphs.
int64_t GraphStepBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_batch,
                       InferenceDtype dtype);

// Nodes of a recorded step: 7 a token and layer, and 11 around them.
int64_t GraphStepNodes(int64_t num_layers);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_GRAPH_STEP_H_
