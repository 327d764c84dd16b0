#include "lzero/model/policy_terms.h"

#include "lzero/kernels/squashed_gaussian.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// Gauss-Hermite: the mean of f over a standard Gaussian is the sum of weight * (f(x) + f(-x)).
struct Point {
  double x, weight;
};
constexpr Point kPoints[] = {
    {0.3469641570813559, 0.2607930634495549},   {1.042945348802751, 0.161739333984},
    {1.745247320814127, 0.0615063720639769},    {2.458663611172368, 0.01399783744710102},
    {3.18901481655339, 0.00183010313108049},    {3.943967350657316, 0.0001288262799619293},
    {4.734581334046055, 4.402121090230851e-06}, {5.578738805893201, 6.127490259982928e-08},
    {6.510590157013655, 2.482062362315176e-10}, {7.619048541679759, 1.257800672437923e-13}};

at::Tensor LogTanhSlopes(const at::Tensor& u) {
  return 2.0 * (0.6931471805599453 - u - at::softplus(-2.0 * u));
}

// Mean of log(d tanh(u) / du) over u ~ N(mean, sigma^2), elementwise. No point becomes a tensor: it
// would have to be brought to the device.
at::Tensor MeanLogTanhSlope(const at::Tensor& means, const at::Tensor& log_sigmas) {
  const at::Tensor sigmas = at::exp(log_sigmas);
  at::Tensor sum = at::zeros_like(means);
  for (const Point& point : kPoints) {
    const at::Tensor away = sigmas * point.x;
    sum = sum + (LogTanhSlopes(means + away) + LogTanhSlopes(means - away)) * point.weight;
  }
  return sum;
}

}  // namespace

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
  const at::Tensor entropies =
      log_sigmas + 0.5 * (kLogTwoPi + 1.0) + MeanLogTanhSlope(means, log_sigmas);
  return {losses, entropies.sum(-1)};
}

PolicyTerms ComputePolicyTerms(const at::Tensor& outputs, const BatchTensors& batch) {
  return batch.sampled_actions.defined() ? BoxPolicyTerms(outputs, batch)
                                         : DiscretePolicyTerms(outputs, batch);
}

}  // namespace lzero
