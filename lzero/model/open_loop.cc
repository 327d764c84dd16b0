#include "lzero/model/open_loop.h"

#include <algorithm>

#include "lzero/tensor/torch.h"

namespace lzero {

BatchTensors FirstSamples(const BatchTensors& batch, int64_t count) {
  BatchTensors first = batch;
  const int64_t kept = std::min(count, batch.rewards.size(0));
  VisitTensors(first, [&](const char*, at::Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.narrow(0, 0, kept);
  });
  return first;
}

at::Tensor OpenLoopErrors(const Imagined& imagined, const BatchTensors& batch) {
  const torch::NoGradGuard no_grad;
  const int64_t num_horizons = imagined.rewards.size(1);
  const auto mean = [&](const at::Tensor& errors, const at::Tensor& mask) {
    // Past the end of an episode the learner sees steps that nobody played (terminal: absorb);
    // policies, which come from a search, are there for real steps alone.
    const at::Tensor valid = (mask * batch.policy_mask).narrow(1, 0, num_horizons);
    return (errors * valid).sum(0) / valid.sum(0);
  };
  return at::stack(
      {mean(at::abs(imagined.rewards - imagined.real_rewards), batch.reward_mask),
       mean(at::abs(imagined.values - imagined.real_values), batch.latent_mask),
       mean(at::square(imagined.latents - imagined.real_latents).mean(-1), batch.latent_mask)});
}

}  // namespace lzero
