#include "lzero/model/network.h"

#include <utility>

#include "lzero/base/check.h"
#include "lzero/kernels/weight_kernels.h"
#include "lzero/nn/encoder.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/support.h"
#include "lzero/tensor/torch.h"

namespace lzero {

// Checkpoints hold parameters alone, not the buffer.
Network::Network(const ModelConfig& config, const WorldModelShape& shape)
    : config_(config),
      shape_(shape),
      value_support_(SupportOf(config.value_range(), config.support_size)),
      reward_support_(SupportOf(config.reward_range(), config.support_size)),
      value_atoms_(register_buffer("value_atoms", SupportAtoms(value_support_))),
      reward_atoms_(register_buffer("reward_atoms", SupportAtoms(reward_support_))) {}

void Network::RegisterEncoder(std::shared_ptr<Encoder> encoder) {
  encoder_ = register_module("encoder", std::move(encoder));
}

void Network::Observe(const BatchTensors& batch, const at::Tensor& skip) {
  encoder_->Observe(batch.observations.select(1, batch.num_context_steps), skip);
}

at::Tensor Network::DecodeValues(const at::Tensor& logits) const {
  return DecodeSupport(logits, value_atoms_, value_support_);
}

at::Tensor Network::DecodeRewards(const at::Tensor& logits) const {
  return DecodeSupport(logits, reward_atoms_, reward_support_);
}

at::Tensor Network::NormalizeLatents(const at::Tensor& x) const {
  return NormalizeLatent(x, config_.latent_norm, config_.sim_norm_group);
}

int64_t Network::num_parameters() const {
  int64_t count = 0;
  for (const at::Tensor& weight : weights_) count += weight.numel();
  return count;
}

void Network::CopyWeightsFrom(const Network& other) {
  const torch::NoGradGuard no_grad;
  LZ_CHECK(weights_.size() == other.weights_.size(), weights_.size(), " against ",
           other.weights_.size(), " tensors");
  at::_foreach_copy_(weights_, other.weights_);
}

void MoveTensorsTowards(const std::vector<at::Tensor>& mine, const std::vector<at::Tensor>& theirs,
                        double rate, const at::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  LZ_CHECK(mine.size() == theirs.size(), mine.size(), " against ", theirs.size(), " tensors");
  if (skip.defined() && !skip.is_cpu()) {
    // Few kernels for all weights; the rate is never read by the host.
    std::vector<at::Tensor> steps = at::_foreach_sub(theirs, mine);
    at::_foreach_mul_(steps, rate * (1.0 - skip));
    at::_foreach_add_(mine, steps);
    return;
  }
  if (skip.defined() && *skip.const_data_ptr<float>() == 1.0f) return;
  for (size_t i = 0; i < mine.size(); ++i) {
    at::Tensor to = mine[i];
    const at::Tensor& from = theirs[i];
    if (!CanFuse({to, from}) || !to.is_contiguous() || !from.is_contiguous()) {
      to.lerp_(from, rate);
    } else {
      MoveTowards(from.const_data_ptr<float>(), static_cast<float>(rate), to.numel(),
                  to.mutable_data_ptr<float>());
    }
  }
}

}  // namespace lzero
