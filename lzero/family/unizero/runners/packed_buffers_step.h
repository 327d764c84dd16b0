// The packed step between buffers in tensors, for whoever compares runners by themselves. Shapes as
// in StepBuffers. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_BUFFERS_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_BUFFERS_STEP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "lzero/family/unizero/engine/packed_step.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"

namespace lzero {

class PackedBuffersStep : public BufferedStep {
 public:
  // `model`, on the CPU, must outlive the step.
  PackedBuffersStep(const WorldModel& model, const PackedStepOptions& options);
  std::string name() const override { return step_.name(); }
  // InvalidArgument for an action or a length out of range.
  absl::Status Run(int64_t batch_size) override;
  void OnWeightsChanged() override;

 private:
  const WorldModel& model_;
  PackedStep step_;
  packed::StepArrays arrays_;  // addresses of buffers_
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_BUFFERS_STEP_H_
