#include "lzero/inference/tensor/network_weights.h"

#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {

struct NetworkWeights::Parameters {
  torch::OrderedDict<std::string, at::Tensor> tensors;
};

NetworkWeights::NetworkWeights(const Network& network)
    : network_(network),
      parameters_(std::make_unique<Parameters>(Parameters{network.named_parameters()})) {}

NetworkWeights::~NetworkWeights() = default;

absl::Status NetworkWeights::Prepare() const {
  LZ_RETURN_IF_ERROR(WaitForWeights(network_));
  const torch::NoGradGuard no_grad;
  for (auto& entry : parameters_->tensors) entry.value() = entry.value().to(at::kCPU);
  return absl::OkStatus();
}

absl::Span<const float> NetworkWeights::Get(const std::string& name,
                                            absl::Span<const int64_t> shape) const {
  const at::Tensor* tensor = parameters_->tensors.find(name);
  LZ_CHECK(tensor != nullptr, "no parameter ", name);
  LZ_CHECK(tensor->is_cpu() && tensor->is_contiguous() && tensor->scalar_type() == at::kFloat &&
               tensor->sizes() == at::IntArrayRef(shape.data(), shape.size()),
           name, " is ", tensor->toString(), " [", absl::StrJoin(tensor->sizes(), ", "), "], not [",
           absl::StrJoin(shape, ", "), "]");
  return {tensor->const_data_ptr<float>(), static_cast<size_t>(tensor->numel())};
}

}  // namespace lzero
