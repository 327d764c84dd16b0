// The recurrent step on packed weights (lzero/family/unizero/packed): the fastest on the CPU. Runs
// no libtorch operation and allocates nothing; its buffers are tensors because the cache's are.
// Shapes as in StepBuffers; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_STEP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/packed/packed_network.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/packed/latent_model.h"

namespace lzero {

class PackedStep : public BufferedStep {
 public:
  // `model`, on the CPU, must outlive the step.
  PackedStep(const WorldModel& model, int64_t max_batch, InferenceDtype dtype, int num_threads);
  std::string name() const override { return "packed"; }
  // InvalidArgument for an action or a length out of range.
  absl::Status Run(int64_t batch_size) override;
  void OnWeightsChanged() override;

  packed::PackedNetwork& network() { return network_; }
  // The encoder of boards and images, for all observations of as many roots with full pasts as a
  // step has rows; null where the network itself encodes.
  packed::LatentModel* encoder() { return encoder_.get(); }

 private:
  const WorldModel& model_;
  packed::NetworkWeights weights_;  // spans over the parameters of the model
  std::unique_ptr<packed::LatentModel> encoder_;
  packed::PackedNetwork network_;
  packed::StepArrays arrays_;  // addresses of buffers_
};

// True when the packed network encodes observations itself: vector encoders.
bool EncodesInPacked(const ModelConfig& config);

// What a PackedStep holds besides its buffers.
int64_t PackedStepBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_batch,
                        InferenceDtype dtype, int num_threads);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_PACKED_STEP_H_
