#include "lzero/nn/functional/perceptron.h"

#include <optional>
#include <vector>

#include "lzero/kernels/perceptron_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/functional/linear.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<at::Tensor>;

constexpr int kNumInputs = 9;  // x and the members of PerceptronWeights, in their order

PerceptronTask TaskFor(const at::Tensor& x, const PerceptronWeights& weights, bool residual) {
  PerceptronTask task;
  task.in = x.size(-1);
  task.rows = x.numel() / task.in;
  task.hidden = weights.weight1.size(0);
  task.out = weights.weight2.size(0);
  task.residual = residual;
  task.x = x.const_data_ptr<float>();
  task.norm_weight1 = DataOrNull(weights.norm_weight1);
  task.norm_bias1 = DataOrNull(weights.norm_bias1);
  task.weight1 = DataOrNull(weights.weight1);
  task.bias1 = DataOrNull(weights.bias1);
  task.norm_weight2 = DataOrNull(weights.norm_weight2);
  task.norm_bias2 = DataOrNull(weights.norm_bias2);
  task.weight2 = DataOrNull(weights.weight2);
  task.bias2 = DataOrNull(weights.bias2);
  return task;
}

// Fills `units` and `moments` if they are to be kept.
at::Tensor Forward(const at::Tensor& x, const PerceptronWeights& weights, bool residual,
                   at::Tensor* units, at::Tensor* moments) {
  PerceptronTask task = TaskFor(x, weights, residual);
  *moments = at::empty({4, task.rows}, x.options());
  task.moments = moments->mutable_data_ptr<float>();
  if (units != nullptr) {
    *units = at::empty({task.rows, task.hidden}, x.options());
    task.units = units->mutable_data_ptr<float>();
  }
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = task.out;
  at::Tensor y = at::empty(shape, x.options());
  RunPerceptron(task, y.mutable_data_ptr<float>());
  return y;
}

class PerceptronFunction : public torch::autograd::Function<PerceptronFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x,
                          const MaybeTensor& norm_weight1, const MaybeTensor& norm_bias1,
                          const Variable& weight1, const Variable& bias1,
                          const MaybeTensor& norm_weight2, const MaybeTensor& norm_bias2,
                          const Variable& weight2, const Variable& bias2, bool residual) {
    const at::Tensor none;
    const PerceptronWeights weights = {
        norm_weight1.value_or(none), norm_bias1.value_or(none), weight1, bias1,
        norm_weight2.value_or(none), norm_bias2.value_or(none), weight2, bias2};
    at::Tensor units, moments;
    at::Tensor y = Forward(x, weights, residual, &units, &moments);
    context->save_for_backward({x, weights.norm_weight1, weights.norm_bias1, weight1, bias1,
                                weights.norm_weight2, weights.norm_bias2, weight2, bias2, units,
                                moments});
    context->saved_data["residual"] = residual;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("Perceptron");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dy = gradients[0].contiguous();
    PerceptronTask task = TaskFor(
        saved[0], {saved[1], saved[2], saved[3], saved[4], saved[5], saved[6], saved[7], saved[8]},
        context->saved_data["residual"].toBool());
    task.units = saved[kNumInputs].mutable_data_ptr<float>();
    task.moments = saved[kNumInputs + 1].mutable_data_ptr<float>();
    variable_list results(kNumInputs + 1);  // nothing for `residual`
    float* to[kNumInputs] = {};
    for (int i = 0; i < kNumInputs; ++i) {
      if (!saved[i].defined() || (i == 0 && !context->needs_input_grad(0))) continue;
      results[i] = at::empty_like(saved[i]);
      to[i] = results[i].mutable_data_ptr<float>();
    }
    RunPerceptronBackward(task, dy.const_data_ptr<float>(),
                          {to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7], to[8]});
    return results;
  }
};

bool IsFused(const at::Tensor& x, const PerceptronWeights& weights) {
  return CanFuse({x, weights.norm_weight1, weights.norm_bias1, weights.weight1, weights.bias1,
                  weights.norm_weight2, weights.norm_bias2, weights.weight2, weights.bias2}) &&
         x.numel() >= kFewRows * x.size(-1) &&
         weights.weight1.numel() + weights.weight2.numel() <= kMostWeights;
}

at::Tensor LayerByLayer(const at::Tensor& x, const PerceptronWeights& weights, bool residual) {
  const at::Tensor normal =
      weights.norm_weight1.defined() ? LayerNorm(x, weights.norm_weight1, weights.norm_bias1) : x;
  const at::Tensor units = Linear(normal, weights.weight1, weights.bias1);
  const at::Tensor active = weights.norm_weight2.defined()
                                ? LayerNormGelu(units, weights.norm_weight2, weights.norm_bias2)
                                : Gelu(units);
  return residual ? LinearAdd(active, weights.weight2, weights.bias2, x)
                  : Linear(active, weights.weight2, weights.bias2);
}

MaybeTensor Maybe(const at::Tensor& tensor) {
  return tensor.defined() ? MaybeTensor(tensor.contiguous()) : std::nullopt;
}

}  // namespace

at::Tensor Perceptron(const at::Tensor& x, const PerceptronWeights& weights, bool residual) {
  if (!IsFused(x, weights)) return LayerByLayer(x, weights, residual);
  const at::Tensor rows = x.contiguous();
  const PerceptronWeights& w = weights;
  if (NeedsGradient({x, w.norm_weight1, w.norm_bias1, w.weight1, w.bias1, w.norm_weight2,
                     w.norm_bias2, w.weight2, w.bias2})) {
    return PerceptronFunction::apply(rows, Maybe(w.norm_weight1), Maybe(w.norm_bias1),
                                     w.weight1.contiguous(), w.bias1.contiguous(),
                                     Maybe(w.norm_weight2), Maybe(w.norm_bias2),
                                     w.weight2.contiguous(), w.bias2.contiguous(), residual);
  }
  const auto contiguous = [](const at::Tensor& weight) {
    return weight.defined() ? weight.contiguous() : weight;
  };
  at::Tensor moments;
  return Forward(rows,
                 {contiguous(w.norm_weight1), contiguous(w.norm_bias1), contiguous(w.weight1),
                  contiguous(w.bias1), contiguous(w.norm_weight2), contiguous(w.norm_bias2),
                  contiguous(w.weight2), contiguous(w.bias2)},
                 residual, /*units=*/nullptr, &moments);
}

}  // namespace lzero
