#include "lzero/family/unizero/runners/packed_buffers_step.h"

#include "lzero/inference/tensor/network_weights.h"

namespace lzero {

PackedBuffersStep::PackedBuffersStep(const WorldModel& model, const PackedStepOptions& options)
    : BufferedStep(MakeStepBuffers(model, options.max_batch)), model_(model), step_(options) {
  PackedBuffersStep::OnWeightsChanged();
  arrays_.contexts = buffers_.contexts.tokens.const_data_ptr<float>();
  arrays_.lengths = buffers_.contexts.lengths.const_data_ptr<int64_t>();
  const bool is_box = model.shape().action_dim > 0;
  arrays_.actions = is_box ? nullptr : buffers_.actions.const_data_ptr<int64_t>();
  arrays_.action_values = is_box ? buffers_.actions.const_data_ptr<float>() : nullptr;
  arrays_.rewards = buffers_.rewards.mutable_data_ptr<float>();
  arrays_.values = buffers_.values.mutable_data_ptr<float>();
  arrays_.prior_logits = buffers_.prior_logits.mutable_data_ptr<float>();
  arrays_.tokens = buffers_.tokens.mutable_data_ptr<float>();
}

void PackedBuffersStep::OnWeightsChanged() { step_.Load(NetworkWeights(model_)); }

absl::Status PackedBuffersStep::Run(int64_t batch_size) {
  return step_.network().Step(arrays_, batch_size);
}

}  // namespace lzero
