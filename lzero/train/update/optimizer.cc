#include "lzero/train/update/optimizer.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kernels/weight_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr double kEpsilon = 1e-8;

// Euclidean norm of all numbers together; nullopt where it cannot be computed on the CPU.
std::optional<double> HostNorm(const std::vector<at::Tensor>& tensors) {
  double squares = 0.0;
  for (const at::Tensor& tensor : tensors) {
    if (!CanFuse({tensor}) || !tensor.is_contiguous()) return std::nullopt;
    squares += SumOfSquares(tensor.const_data_ptr<float>(), tensor.numel());
  }
  return std::sqrt(squares);
}

}  // namespace

AdamW::AdamW(const TaskWeights& model, const TrainConfig& config)
    : config_(config), groups_(2 * model.owners().size()) {
  for (const OwnedWeight& weight : model.weights()) {
    if (!weight.learns) continue;
    Group& group = groups_[2 * weight.owner + (weight.tensor.dim() >= 2 ? 0 : 1)];
    group.names.push_back(weight.name);
    group.parameters.push_back(weight.tensor);
    group.first_moments.push_back(at::zeros_like(weight.tensor));
    group.second_moments.push_back(at::zeros_like(weight.tensor));
  }
  for (size_t owner = 0; owner < model.owners().size(); ++owner) {
    groups_[2 * owner].weight_decay = config.weight_decay;
    active_.push_back(owner);
  }
  for (Group& group : groups_) {
    group.step_counts = at::zeros({static_cast<int64_t>(group.names.size())},
                                  at::TensorOptions().device(model.device()));
    group.steps = group.step_counts.unbind();
  }
}

template <typename Visit>
void AdamW::VisitActive(Visit visit) {
  for (const size_t owner : active_) {
    for (const size_t group : {2 * owner, 2 * owner + 1}) {
      if (!groups_[group].names.empty()) visit(groups_[group]);
    }
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

at::Tensor AdamW::ClipGradients() {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  VisitActive([&](const Group& group) {
    for (const at::Tensor& gradient : Gradients(group)) gradients.push_back(gradient);
  });
  if (const std::optional<double> norm = HostNorm(gradients); norm.has_value()) {
    if (*norm > config_.grad_clip) {
      at::_foreach_mul_(gradients, config_.grad_clip / (*norm + 1e-6));
    }
    return at::full({}, *norm, gradients[0].options());
  }
  const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
  // A factor of 1 leaves every number as it is.
  at::_foreach_mul_(gradients, at::clamp_max(config_.grad_clip / (norm + 1e-6), 1.0));
  return norm;
}

template <typename Rate>
void AdamW::StepWith(const Rate& learning_rate, const at::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  std::optional<at::Tensor> found_inf;
  if (skip.defined()) found_inf = skip;
  VisitActive([&](Group& group) {
    skip.defined() ? group.step_counts.add_(1.0 - skip) : group.step_counts.add_(1.0);
    at::_fused_adamw_(group.parameters, Gradients(group), group.first_moments, group.second_moments,
                      {}, group.steps, learning_rate, config_.beta1, config_.beta2,
                      group.weight_decay, kEpsilon, /*amsgrad=*/false,
                      /*maximize=*/false, /*grad_scale=*/{}, found_inf);
  });
}

void AdamW::Step(double learning_rate, const at::Tensor& skip) { StepWith(learning_rate, skip); }

void AdamW::Step(const at::Tensor& learning_rate, const at::Tensor& skip) {
  StepWith(learning_rate, skip);
}

std::vector<NamedTensor> AdamW::State() const {
  std::vector<NamedTensor> tensors;
  for (const Group& group : groups_) {
    for (size_t i = 0; i < group.names.size(); ++i) {
      tensors.emplace_back(group.names[i] + ".exp_avg", group.first_moments[i]);
      tensors.emplace_back(group.names[i] + ".exp_avg_sq", group.second_moments[i]);
      tensors.emplace_back(group.names[i] + ".step", group.steps[i]);
    }
  }
  return tensors;
}

void AdamW::Restart() {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : State()) tensor.zero_();
}

std::vector<NamedArray> AdamW::Export() const {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : State()) arrays.push_back(ToNamedArray(name, tensor));
  return arrays;
}

absl::Status AdamW::Import(absl::Span<const NamedArray> arrays) {
  return CopyAllInto(State(), arrays);
}

}  // namespace lzero
