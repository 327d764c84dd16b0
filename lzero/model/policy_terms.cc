#include "lzero/model/policy_terms.h"

#include "lzero/kernels/squashed_gaussian.h"
#include "lzero/tensor/torch.h"

namespace lzero {

PolicyTerms DiscretePolicyTerms(const at::Tensor& logits, const BatchTensors& batch) {
  const at::Tensor log_policy = at::log_softmax(logits, -1);
  const at::Tensor legal = at::log_softmax(logits.masked_fill(batch.illegal, -1e9), -1);
  return {-(batch.policies * log_policy).sum(-1), -(at::exp(legal) * legal).sum(-1)};
}

PolicyTerms BoxPolicyTerms(const at::Tensor& outputs, const BatchTensors& batch) {
  const std::vector<at::Tensor> halves = outputs.chunk(2, -1);
  const at::Tensor& means = halves[0];  // [N, U, D]
  const at::Tensor log_sigmas = at::clamp(halves[1], kMinLogSigma, kMaxLogSigma);
  const at::Tensor actions =
      at::clamp(batch.sampled_actions, -kLargestSquashed, kLargestSquashed);  // [N, U, K, D]
  const at::Tensor u = at::atanh(actions);
  const at::Tensor z = (u - means.unsqueeze(-2)) * at::exp(-log_sigmas).unsqueeze(-2);
  const at::Tensor log_slopes = at::log1p(-at::square(actions));
  const at::Tensor log_densities =
      -0.5 * (at::square(z) + kLogTwoPi) - log_sigmas.unsqueeze(-2) - log_slopes;
  const at::Tensor losses = -(batch.policies * log_densities.sum(-1)).sum(-1);
  return {losses, (log_sigmas + 0.5 * (kLogTwoPi + 1.0)).sum(-1)};
}

PolicyTerms ComputePolicyTerms(const at::Tensor& outputs, const BatchTensors& batch) {
  return batch.sampled_actions.defined() ? BoxPolicyTerms(outputs, batch)
                                         : DiscretePolicyTerms(outputs, batch);
}

}  // namespace lzero
