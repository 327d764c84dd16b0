#include "lzero/nn/support.h"

#include "lzero/base/check.h"
#include "lzero/kernels/support_kernels.h"
#include "lzero/kernels/value_transform.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr double kEpsilon = kValueTransformEpsilon;
constexpr double kRootAtZero = kValueTransformRootAtZero;

// Lower atom index and the share of the upper one, both [...].
struct AtomShares {
  at::Tensor lower;  // int64
  at::Tensor upper_share;
};

AtomShares SplitBetweenAtoms(const at::Tensor& values, int64_t support_size) {
  const double limit = static_cast<double>(support_size - 1) / 2;
  const at::Tensor position = at::clamp(TransformValues(values), -limit, limit).add(limit);
  // The last lower atom is S - 2, so that the exact maximum becomes share 1 of the last atom. A NaN
  // keeps a valid index and makes the share NaN, so that it reaches the loss.
  const at::Tensor lower = at::nan_to_num(
      at::clamp_max(at::floor(position), static_cast<double>(support_size - 2)), 0.0);
  return {lower.to(at::kLong), position - lower};
}

class TwoHotFunction : public torch::autograd::Function<TwoHotFunction> {
 public:
  // Contiguous logits [..., S] and values [...].
  static Variable forward(AutogradContext* context, const Variable& logits,
                          const at::Tensor& values) {
    const at::Tensor log_sums = at::empty_like(values);
    context->save_for_backward({logits, values, log_sums});
    at::Tensor losses = at::empty_like(values);
    RunTwoHotLoss(TaskFor(logits, values, log_sums), losses.mutable_data_ptr<float>());
    return losses;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("TwoHotCrossEntropy");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dlosses = gradients[0].contiguous();
    at::Tensor dlogits = at::empty_like(saved[0]);
    RunTwoHotLossBackward(TaskFor(saved[0], saved[1], saved[2]), dlosses.const_data_ptr<float>(),
                          dlogits.mutable_data_ptr<float>());
    return {dlogits, at::Tensor()};
  }

 private:
  static TwoHotTask TaskFor(const at::Tensor& logits, const at::Tensor& values,
                            const at::Tensor& log_sums) {
    return {values.numel(), logits.size(-1), logits.const_data_ptr<float>(),
            values.const_data_ptr<float>(), log_sums.mutable_data_ptr<float>()};
  }
};

}  // namespace

at::Tensor TransformValues(const at::Tensor& values) {
  const at::Tensor magnitude = at::abs(values);
  const at::Tensor squeezed = magnitude / at::sqrt(magnitude + 1.0).add_(1.0);
  return at::sign(values) * squeezed + kEpsilon * values;
}

at::Tensor InverseTransformValues(const at::Tensor& transformed) {
  const at::Tensor magnitude = at::abs(transformed);
  const at::Tensor root = at::sqrt(1.0 + 4.0 * kEpsilon * (magnitude + (1.0 + kEpsilon)));
  const at::Tensor increase = 2.0 * magnitude / (root + kRootAtZero);
  return at::sign(transformed) * increase * (increase + 2.0);
}

at::Tensor TwoHotCrossEntropy(const at::Tensor& logits, const at::Tensor& values) {
  if (CanFuse({logits, values})) {
    return TwoHotFunction::apply(logits.contiguous(), values.contiguous());
  }
  const AtomShares split = SplitBetweenAtoms(values, logits.size(-1));
  const at::Tensor log_probabilities = at::log_softmax(logits, -1);
  const at::Tensor indices = at::stack({split.lower, split.lower + 1}, -1);
  const at::Tensor shares = at::stack({1.0 - split.upper_share, split.upper_share}, -1);
  return -(at::gather(log_probabilities, -1, indices) * shares).sum(-1);
}

at::Tensor DecodeSupport(const at::Tensor& logits, const at::Tensor& atoms) {
  if (CanFuse({logits}) && !NeedsGradient({logits})) {
    const at::Tensor rows = logits.contiguous();
    at::Tensor values = at::empty(logits.sizes().slice(0, logits.dim() - 1), logits.options());
    RunDecode(values.numel(), logits.size(-1), rows.const_data_ptr<float>(),
              values.mutable_data_ptr<float>());
    return values;
  }
  // Logits may be of bfloat16, values not: they would have 8 bits.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const at::Tensor wide = logits.scalar_type() == at::kBFloat16 ? logits.to(at::kFloat) : logits;
  return InverseTransformValues(at::matmul(at::softmax(wide, -1), atoms));
}

at::Tensor SupportAtoms(int64_t support_size) {
  LZ_CHECK(support_size >= 3 && support_size % 2 == 1, "support of ", support_size, " atoms");
  const double limit = static_cast<double>(support_size - 1) / 2;
  return at::arange(-limit, limit + 0.5, 1.0, at::kFloat);
}

}  // namespace lzero
