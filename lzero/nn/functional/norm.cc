#include "lzero/nn/functional/norm.h"

#include <optional>

#include "lzero/kernels/norm_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// `moments` [2, rows] holds means and 1 / standard deviation.
NormTask TaskFor(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool gelu,
                 const at::Tensor& moments) {
  NormTask task;
  task.size = x.size(-1);
  task.rows = x.numel() / task.size;
  task.x = x.const_data_ptr<float>();
  task.weight = DataOrNull(weight);
  task.bias = DataOrNull(bias);
  task.gelu = gelu;
  task.means = moments.mutable_data_ptr<float>();
  task.inverse_deviations = task.means + task.rows;
  return task;
}

// Contiguous x; weight and bias contiguous or both undefined. Fills `moments`.
at::Tensor Forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool gelu,
                   at::Tensor* moments) {
  *moments = at::empty({2, x.numel() / x.size(-1)}, x.options());
  at::Tensor y = at::empty_like(x);
  RunNorm(TaskFor(x, weight, bias, gelu, *moments), y.mutable_data_ptr<float>());
  return y;
}

class NormFunction : public torch::autograd::Function<NormFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x,
                          const std::optional<Variable>& weight,
                          const std::optional<Variable>& bias, bool gelu) {
    const at::Tensor factor = weight.value_or(at::Tensor()), term = bias.value_or(at::Tensor());
    at::Tensor moments;
    at::Tensor y = Forward(x, factor, term, gelu, &moments);
    context->save_for_backward({x, factor, term, moments});
    context->saved_data["gelu"] = gelu;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("LayerNorm");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = gradients[0].contiguous();
    at::Tensor dx = at::empty_like(x), dweight, dbias;
    if (weight.defined()) {
      dweight = at::empty_like(weight);
      dbias = at::empty_like(weight);
    }
    RunNormBackward(TaskFor(x, weight, saved[2], context->saved_data["gelu"].toBool(), saved[3]),
                    dy.const_data_ptr<float>(), dx.mutable_data_ptr<float>(),
                    weight.defined() ? dweight.mutable_data_ptr<float>() : nullptr,
                    weight.defined() ? dbias.mutable_data_ptr<float>() : nullptr);
    return {dx, dweight, dbias, at::Tensor()};
  }
};

class GeluFunction : public torch::autograd::Function<GeluFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x) {
    context->save_for_backward({x});
    at::Tensor y = at::empty_like(x);
    RunGelu(x.numel(), x.const_data_ptr<float>(), y.mutable_data_ptr<float>());
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("Gelu");
    const at::Tensor x = context->get_saved_variables()[0];
    const at::Tensor dy = gradients[0].contiguous();
    at::Tensor dx = at::empty_like(x);
    RunGeluBackward(x.numel(), x.const_data_ptr<float>(), dy.const_data_ptr<float>(),
                    dx.mutable_data_ptr<float>(), /*again=*/nullptr);
    return {dx};
  }
};

// weight and bias may both be undefined.
at::Tensor Fused(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, bool gelu) {
  const at::Tensor rows = x.contiguous();
  std::optional<at::Tensor> factor, term;
  if (weight.defined()) {
    factor = weight.contiguous();
    term = bias.contiguous();
  }
  if (NeedsGradient({x, weight, bias})) return NormFunction::apply(rows, factor, term, gelu);
  at::Tensor moments;
  return Forward(rows, factor.value_or(at::Tensor()), term.value_or(at::Tensor()), gelu, &moments);
}

}  // namespace

at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (CanFuse({x, weight, bias})) return Fused(x, weight, bias, /*gelu=*/false);
  return at::layer_norm(x, {x.size(-1)}, weight, bias);
}

at::Tensor LayerNormGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (CanFuse({x, weight, bias})) return Fused(x, weight, bias, /*gelu=*/true);
  return at::gelu(at::layer_norm(x, {x.size(-1)}, weight, bias), "tanh");
}

at::Tensor Normalize(const at::Tensor& x) {
  if (CanFuse({x})) return Fused(x, {}, {}, /*gelu=*/false);
  return at::layer_norm(x, {x.size(-1)});
}

at::Tensor Gelu(const at::Tensor& x) {
  if (!CanFuse({x})) return at::gelu(x, "tanh");
  const at::Tensor rows = x.contiguous();
  if (NeedsGradient({x})) return GeluFunction::apply(rows);
  at::Tensor y = at::empty_like(rows);
  RunGelu(rows.numel(), rows.const_data_ptr<float>(), y.mutable_data_ptr<float>());
  return y;
}

}  // namespace lzero
