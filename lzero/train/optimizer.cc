#include "lzero/train/optimizer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/fused_path.h"
#include "lzero/nn/weight_kernels.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr double kEpsilon = 1e-8;

// Of all numbers together.
double NormOf(const std::vector<at::Tensor>& tensors) {
  double squares = 0.0;
  for (const at::Tensor& tensor : tensors) {
    if (!CanFuse({tensor}) || !tensor.is_contiguous()) {
      return at::linalg_vector_norm(at::stack(at::_foreach_norm(tensors))).item<double>();
    }
    squares += SumOfSquares(tensor.const_data_ptr<float>(), tensor.numel());
  }
  return std::sqrt(squares);
}

}  // namespace

AdamW::AdamW(WorldModel& model, const TrainConfig& config) : config_(config), groups_(2) {
  groups_[0].weight_decay = config.weight_decay;
  for (const auto& entry : model.named_parameters()) {
    Group& group = groups_[entry.value().dim() >= 2 ? 0 : 1];
    group.names.push_back(entry.key());
    group.parameters.push_back(entry.value());
    group.first_moments.push_back(at::zeros_like(entry.value()));
    group.second_moments.push_back(at::zeros_like(entry.value()));
    group.steps.push_back(at::zeros({}, entry.value().options().requires_grad(false)));
  }
}

std::vector<at::Tensor> AdamW::Gradients(const Group& group) const {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : group.parameters) {
    LZ_CHECK(parameter.grad().defined(), "a weight takes no part in the loss");
    gradients.push_back(parameter.grad());
  }
  return gradients;
}

void AdamW::ClearGradients() {
  for (Group& group : groups_) {
    for (at::Tensor& parameter : group.parameters) parameter.mutable_grad() = at::Tensor();
  }
}

double AdamW::ClipGradients() {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients = Gradients(groups_[0]);
  for (const at::Tensor& gradient : Gradients(groups_[1])) gradients.push_back(gradient);
  const double norm = NormOf(gradients);
  if (norm > config_.grad_clip) {
    at::_foreach_mul_(gradients, config_.grad_clip / (norm + 1e-6));
  }
  return norm;
}

void AdamW::Step(double learning_rate) {
  const torch::NoGradGuard no_grad;
  for (Group& group : groups_) {
    at::_foreach_add_(group.steps, 1);
    at::_fused_adamw_(group.parameters, Gradients(group), group.first_moments, group.second_moments,
                      {}, group.steps, learning_rate, config_.beta1, config_.beta2,
                      group.weight_decay, kEpsilon, /*amsgrad=*/false,
                      /*maximize=*/false);
  }
}

std::vector<NamedArray> AdamW::Export() const {
  std::vector<NamedArray> arrays;
  for (const Group& group : groups_) {
    for (size_t i = 0; i < group.names.size(); ++i) {
      arrays.push_back(ToNamedArray(group.names[i] + ".exp_avg", group.first_moments[i]));
      arrays.push_back(ToNamedArray(group.names[i] + ".exp_avg_sq", group.second_moments[i]));
      arrays.push_back(ToNamedArray(group.names[i] + ".step", group.steps[i]));
    }
  }
  return arrays;
}

absl::Status AdamW::Import(absl::Span<const NamedArray> arrays) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const Group& group : groups_) {
    for (size_t i = 0; i < group.names.size(); ++i) {
      tensors.emplace_back(group.names[i] + ".exp_avg", group.first_moments[i]);
      tensors.emplace_back(group.names[i] + ".exp_avg_sq", group.second_moments[i]);
      tensors.emplace_back(group.names[i] + ".step", group.steps[i]);
    }
  }
  return CopyAllInto(tensors, arrays);
}

}  // namespace lzero
