// The policy's part of the losses, at every position: how far the policy is from what the search
// found, and its entropy. One function for each kind of action. All tensors float32; gradients flow
// to the policy's outputs, not to the batch. Pure functions.
#ifndef LZERO_MODEL_POLICY_TERMS_H_
#define LZERO_MODEL_POLICY_TERMS_H_

#include "ATen/core/Tensor.h"
#include "lzero/model/batch_tensors.h"

namespace lzero {

struct PolicyTerms {
  at::Tensor losses;     // [N, U]
  at::Tensor entropies;  // [N, U] nats
};

// logits [N, U, A]: cross-entropy against the shares of the search; entropy over legal actions.
PolicyTerms DiscretePolicyTerms(const at::Tensor& logits, const BatchTensors& batch);

// outputs [N, U, 2 D], means then logs of sigma: -sum over the K sampled actions of share * log
// pi(a), a Gaussian squashed by tanh, a held inside +-0.999 [Hubert et al. 2021]; entropy of what
// the tanh gives, which is bounded: log 2 a number at most. Its integral is a sum over 20 points,
// within 0.005 for sigma up to 2 and 0.2 for any.
PolicyTerms BoxPolicyTerms(const at::Tensor& outputs, const BatchTensors& batch);

// The one of the two that fits the batch: outputs [N, U, policy size].
PolicyTerms ComputePolicyTerms(const at::Tensor& outputs, const BatchTensors& batch);

}  // namespace lzero

#endif  // LZERO_MODEL_POLICY_TERMS_H_
