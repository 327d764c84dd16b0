#include "lzero/nn/observation_norm.h"

#include "lzero/packed/observation_norm.h"
#include "lzero/tensor/torch.h"

namespace lzero {

ObservationNorm::ObservationNorm(int64_t size, bool scales)
    : scales_(scales),
      mean_(register_parameter("mean", at::zeros({size}), /*requires_grad=*/false)),
      variance_(register_parameter("variance", at::ones({size}), /*requires_grad=*/false)),
      count_(register_parameter("count", at::zeros({1}), /*requires_grad=*/false)) {}

at::Tensor ObservationNorm::Forward(const at::Tensor& x) const {
  if (!scales_) return x - mean_;
  const at::Tensor scaled = (x - mean_) / at::sqrt(variance_ + packed::kVarianceFloor);
  return at::clamp(scaled, -packed::kLargestNormed, packed::kLargestNormed);
}

void ObservationNorm::Observe(const at::Tensor& x, const at::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  const auto num_seen = static_cast<double>(x.size(0));
  const at::Tensor batch_mean = x.mean(0);
  const at::Tensor batch_variance = at::square(x - batch_mean).mean(0);
  // The share of the new ones, 0 where they are left out.
  const at::Tensor sum = count_ + num_seen;
  at::Tensor share = num_seen / sum;
  if (skip.defined()) share = share * (1.0 - skip);
  const at::Tensor away = batch_mean - mean_;
  const at::Tensor spread = share * (1.0 - share) * at::square(away);
  variance_.copy_(variance_ + share * (batch_variance - variance_) + spread);
  mean_.copy_(mean_ + share * away);
  const at::Tensor counted = at::clamp_max(sum, kMostCounted);
  count_.copy_(skip.defined() ? at::where(skip > 0.0, count_, counted) : counted);
}

}  // namespace lzero
