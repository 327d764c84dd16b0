#include "lzero/nn/functional/linear.h"

#include <optional>
#include <vector>

#include "lzero/kernels/product/matrix_product.h"
#include "lzero/kernels/product/product_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

MatrixView ViewOf(const at::Tensor& matrix) {
  return {matrix.const_data_ptr<float>(), matrix.size(-1), 1};
}

// x [..., in] contiguous; residual contiguous or undefined.
at::Tensor Product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   const at::Tensor& residual) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  at::Tensor y = at::empty(shape, x.options());
  const ProductSize size = {x.numel() / x.size(-1), weight.size(0), weight.size(1)};
  MultiplyMatrices(size, ViewOf(x), ViewOf(weight).Transposed(), bias.const_data_ptr<float>(),
                   residual.defined() ? residual.const_data_ptr<float>() : nullptr,
                   y.mutable_data_ptr<float>());
  return y;
}

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  // All contiguous.
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias, const std::optional<Variable>& residual) {
    context->save_for_backward({x, weight});
    context->saved_data["has_residual"] = residual.has_value();
    return Product(x, weight, bias, residual.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("Linear");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor dy = gradients[0].contiguous();
    const int64_t rows = x.numel() / x.size(-1), in = weight.size(1), out = weight.size(0);
    at::Tensor dx, dw, db;
    if (context->needs_input_grad(0)) {
      dx = at::empty_like(x);
      MultiplyMatrices({rows, in, out}, ViewOf(dy), ViewOf(weight), nullptr, nullptr,
                       dx.mutable_data_ptr<float>());
    }
    if (context->needs_input_grad(1)) {
      dw = at::empty_like(weight);
      MultiplyMatrices({out, in, rows}, ViewOf(dy).Transposed(), ViewOf(x), nullptr, nullptr,
                       dw.mutable_data_ptr<float>());
    }
    if (context->needs_input_grad(2)) {
      db = at::zeros({out}, dy.options());
      AddColumnSums(dy.const_data_ptr<float>(), rows, out, db.mutable_data_ptr<float>());
    }
    const bool has_residual = context->saved_data["has_residual"].toBool();
    return {dx, dw, db, has_residual ? dy : at::Tensor()};
  }
};

// residual: undefined, or what is added.
at::Tensor Fused(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                 const at::Tensor& residual) {
  const at::Tensor rows = x.contiguous(), matrix = weight.contiguous(), row = bias.contiguous();
  if (!NeedsGradient({x, weight, bias, residual})) {
    return Product(rows, matrix, row, residual.defined() ? residual.contiguous() : residual);
  }
  std::optional<at::Tensor> added;
  if (residual.defined()) added = residual.contiguous();
  return LinearFunction::apply(rows, matrix, row, added);
}

bool IsFused(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
             const at::Tensor& residual) {
  return CanFuse({x, weight, bias, residual}) && x.numel() >= kFewRows * x.size(-1);
}

}  // namespace

at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!IsFused(x, weight, bias, {})) return at::linear(x, weight, bias);
  return Fused(x, weight, bias, {});
}

at::Tensor LinearAdd(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     const at::Tensor& residual) {
  if (!IsFused(x, weight, bias, residual)) return residual + at::linear(x, weight, bias);
  return Fused(x, weight, bias, residual);
}

}  // namespace lzero
