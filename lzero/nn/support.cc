#include "lzero/nn/support.h"

#include "lzero/base/check.h"
#include "lzero/kernels/support_kernels.h"
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

AtomShares SplitBetweenAtoms(const at::Tensor& values, const ValueSupport& support) {
  const double first = support.origin, last = first + support.size - 1;
  at::Tensor places = support.is_squeezed ? TransformValues(values) : values;
  if (support.step != 1.0f) places = places / support.step;  // a kernel less of the usual atoms
  const at::Tensor position = at::clamp(places, first, last).sub(first);
  // The last lower atom is S - 2, so that the exact maximum becomes share 1 of the last atom. A NaN
  // keeps a valid index and makes the share NaN, so that it reaches the loss.
  const at::Tensor lower = at::nan_to_num(
      at::clamp_max(at::floor(position), static_cast<double>(support.size - 2)), 0.0);
  return {lower.to(at::kLong), position - lower};
}

class TwoHotFunction : public torch::autograd::Function<TwoHotFunction> {
 public:
  // Contiguous logits [..., S] and values [...].
  static Variable forward(AutogradContext* context, const Variable& logits,
                          const at::Tensor& values, const ValueSupport& support) {
    const at::Tensor log_sums = at::empty_like(values);
    context->save_for_backward({logits, values, log_sums});
    context->saved_data["origin"] = static_cast<double>(support.origin);
    context->saved_data["step"] = static_cast<double>(support.step);
    context->saved_data["is_squeezed"] = support.is_squeezed;
    at::Tensor losses = at::empty_like(values);
    RunTwoHotLoss(TaskFor(logits, values, log_sums, support), losses.mutable_data_ptr<float>());
    return losses;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("TwoHotCrossEntropy");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dlosses = gradients[0].contiguous();
    at::Tensor dlogits = at::empty_like(saved[0]);
    const ValueSupport support = {static_cast<int32_t>(saved[0].size(-1)),
                                  static_cast<float>(context->saved_data["origin"].toDouble()),
                                  static_cast<float>(context->saved_data["step"].toDouble()),
                                  context->saved_data["is_squeezed"].toBool()};
    RunTwoHotLossBackward(TaskFor(saved[0], saved[1], saved[2], support),
                          dlosses.const_data_ptr<float>(), dlogits.mutable_data_ptr<float>());
    return {dlogits, at::Tensor(), at::Tensor()};
  }

 private:
  static TwoHotTask TaskFor(const at::Tensor& logits, const at::Tensor& values,
                            const at::Tensor& log_sums, const ValueSupport& support) {
    return {values.numel(), support, logits.const_data_ptr<float>(), values.const_data_ptr<float>(),
            log_sums.mutable_data_ptr<float>()};
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

at::Tensor TwoHotCrossEntropy(const at::Tensor& logits, const at::Tensor& values,
                              const ValueSupport& support) {
  LZ_CHECK(logits.size(-1) == support.size, "logits of ", logits.size(-1), " atoms, expected ",
           support.size);
  if (CanFuse({logits, values})) {
    return TwoHotFunction::apply(logits.contiguous(), values.contiguous(), support);
  }
  const AtomShares split = SplitBetweenAtoms(values, support);
  const at::Tensor log_probabilities = at::log_softmax(logits, -1);
  const at::Tensor indices = at::stack({split.lower, split.lower + 1}, -1);
  const at::Tensor shares = at::stack({1.0 - split.upper_share, split.upper_share}, -1);
  return -(at::gather(log_probabilities, -1, indices) * shares).sum(-1);
}

at::Tensor DecodeSupport(const at::Tensor& logits, const at::Tensor& atoms,
                         const ValueSupport& support) {
  LZ_CHECK(logits.size(-1) == support.size, "logits of ", logits.size(-1), " atoms, expected ",
           support.size);
  if (CanFuse({logits}) && !NeedsGradient({logits})) {
    const at::Tensor rows = logits.contiguous();
    at::Tensor values = at::empty(logits.sizes().slice(0, logits.dim() - 1), logits.options());
    RunDecode(values.numel(), support, rows.const_data_ptr<float>(),
              values.mutable_data_ptr<float>());
    return values;
  }
  // Logits may be of bfloat16, values not: they would have 8 bits.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const at::Tensor wide = logits.scalar_type() == at::kBFloat16 ? logits.to(at::kFloat) : logits;
  const at::Tensor means = at::matmul(at::softmax(wide, -1), atoms);
  return support.is_squeezed ? InverseTransformValues(means) : means;
}

at::Tensor SupportAtoms(const ValueSupport& support) {
  LZ_CHECK(support.size >= 2, "support of ", support.size, " atoms");
  return at::arange(0, support.size, 1, at::kFloat).add_(support.origin).mul_(support.step);
}

}  // namespace lzero
