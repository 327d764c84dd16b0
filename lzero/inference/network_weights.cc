#include "lzero/inference/network_weights.h"

#include "lzero/base/check.h"
#include "lzero/tensor/torch.h"

namespace lzero {

struct NetworkWeights::Parameters {
  torch::OrderedDict<std::string, at::Tensor> tensors;
};

NetworkWeights::NetworkWeights(const Network& network)
    : parameters_(std::make_unique<Parameters>(Parameters{network.named_parameters()})) {
  const torch::NoGradGuard no_grad;
  for (auto& entry : parameters_->tensors) {
    entry.value() = entry.value().to(at::kCPU, at::kFloat).contiguous();
  }
}

NetworkWeights::~NetworkWeights() = default;

absl::Span<const float> NetworkWeights::Get(const std::string& name) const {
  const at::Tensor* tensor = parameters_->tensors.find(name);
  LZ_CHECK(tensor != nullptr, "no parameter ", name);
  return {tensor->const_data_ptr<float>(), static_cast<size_t>(tensor->numel())};
}

}  // namespace lzero
