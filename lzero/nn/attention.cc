#include "lzero/nn/attention.h"

#include <limits>

#include "lzero/kernels/attention_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/functional/rotary.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

at::Tensor BandMask(int64_t num_tokens, int64_t window) {
  const at::Tensor positions = at::arange(num_tokens, at::kLong);
  const at::Tensor distance = positions.unsqueeze(1) - positions.unsqueeze(0);
  const at::Tensor allowed = at::logical_and(distance >= 0, distance < window);
  return at::zeros({num_tokens, num_tokens}).masked_fill_(at::logical_not(allowed), kMinusInfinity);
}

// qkv [N, T, 3 E] contiguous; num_padding contiguous or undefined.
AttentionTask TaskFor(const at::Tensor& qkv, const at::Tensor& cosines, const at::Tensor& sines,
                      const at::Tensor& num_padding, int64_t window) {
  AttentionTask task;
  task.samples = qkv.size(0);
  task.tokens = qkv.size(1);
  task.head_size = cosines.size(1);
  task.heads = qkv.size(2) / (3 * task.head_size);
  task.window = window;
  task.qkv = qkv.const_data_ptr<float>();
  task.cosines = cosines.const_data_ptr<float>();
  task.sines = sines.const_data_ptr<float>();
  if (num_padding.defined()) task.num_padding = num_padding.const_data_ptr<int64_t>();
  return task;
}

at::Tensor Mix(const AttentionTask& task, const at::Tensor& qkv) {
  at::Tensor mixed = at::empty({qkv.size(0), qkv.size(1), qkv.size(2) / 3}, qkv.options());
  RunAttention(task, mixed.mutable_data_ptr<float>());
  return mixed;
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& qkv, const at::Tensor& cosines,
                          const at::Tensor& sines, const std::optional<at::Tensor>& num_padding,
                          int64_t window) {
    const at::Tensor padding = num_padding.value_or(at::Tensor());
    AttentionTask task = TaskFor(qkv, cosines, sines, padding, window);
    at::Tensor probabilities =
        at::empty({task.samples, task.heads, task.tokens, NumKeys(task)}, qkv.options());
    task.probabilities = probabilities.mutable_data_ptr<float>();
    context->save_for_backward({qkv, cosines, sines, padding, probabilities});
    context->saved_data["window"] = window;
    return Mix(task, qkv);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("SlidingAttention");
    const variable_list saved = context->get_saved_variables();
    AttentionTask task =
        TaskFor(saved[0], saved[1], saved[2], saved[3], context->saved_data["window"].toInt());
    task.probabilities = saved[4].mutable_data_ptr<float>();
    const at::Tensor dout = gradients[0].contiguous();
    at::Tensor dqkv = at::empty_like(saved[0]);
    RunAttentionBackward(task, dout.const_data_ptr<float>(), dqkv.mutable_data_ptr<float>());
    return {dqkv, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

std::shared_ptr<const SequenceTables> SlidingAttention::Tables(int64_t num_tokens,
                                                               at::Device device) const {
  {
    const std::lock_guard<std::mutex> lock(kept_->mutex);
    const auto found = kept_->tables.find(num_tokens);
    if (found != kept_->tables.end() && found->second->band_mask.device() == device) {
      return found->second;
    }
  }
  const torch::NoGradGuard no_grad;
  auto tables = std::make_shared<SequenceTables>();
  tables->num_tokens = num_tokens;
  tables->rotary = RotaryTable(0, num_tokens, head_size_).to(device);
  // [T, D / 2, 2] of each pair: cosine twice; minus the sine, the sine.
  const at::Tensor angles = at::view_as_real(tables->rotary.squeeze(1));
  const at::Tensor cosine = angles.select(-1, 0), sine = angles.select(-1, 1);
  tables->cosines = at::stack({cosine, cosine}, -1).flatten(1).contiguous();
  tables->sines = at::stack({-sine, sine}, -1).flatten(1).contiguous();
  tables->band_mask = BandMask(num_tokens, window_).to(device);
  const std::lock_guard<std::mutex> lock(kept_->mutex);
  if (device.is_cpu()) kept_->tables.clear();
  kept_->tables[num_tokens] = tables;
  return tables;
}

at::Tensor SlidingAttention::RunPlain(const at::Tensor& qkv, const SequenceTables& tables,
                                      const at::Tensor& num_padding, double dropout) const {
  // [N, T, 3, H, D]
  const at::Tensor heads = qkv.unflatten(-1, {3, -1, head_size_});
  at::Tensor mask = tables.band_mask;
  if (num_padding.defined()) {
    // A padding token sees itself only, so that its row of the softmax is not empty.
    const auto numbers = at::TensorOptions().device(qkv.device());
    const at::Tensor positions = at::arange(tables.num_tokens, numbers.dtype(at::kLong));
    const at::Tensor hidden = (positions < num_padding.unsqueeze(1)).unsqueeze(1);  // [N, 1, T]
    const at::Tensor other = at::eye(tables.num_tokens, numbers.dtype(at::kBool)).logical_not_();
    mask = mask.masked_fill(at::logical_and(hidden, other), kMinusInfinity).unsqueeze(1);
  }
  const at::Tensor query = Rotate(heads.select(2, 0), tables.rotary).transpose(1, 2);
  const at::Tensor key = Rotate(heads.select(2, 1), tables.rotary).transpose(1, 2);
  const at::Tensor value = heads.select(2, 2).transpose(1, 2);
  const at::Tensor mixed = at::scaled_dot_product_attention(query, key, value, mask, dropout,
                                                            /*is_causal=*/false);
  return mixed.transpose(1, 2).flatten(-2);
}

at::Tensor SlidingAttention::Run(const at::Tensor& qkv, const SequenceTables& tables,
                                 const at::Tensor& num_padding, double dropout) const {
  if (dropout > 0.0 || !CanFuse({qkv})) return RunPlain(qkv, tables, num_padding, dropout);
  const at::Tensor rows = qkv.contiguous();
  std::optional<at::Tensor> padding;
  if (num_padding.defined()) padding = num_padding.contiguous();
  if (NeedsGradient({qkv})) {
    return AttentionFunction::apply(rows, tables.cosines, tables.sines, padding, window_);
  }
  return Mix(TaskFor(rows, tables.cosines, tables.sines, padding.value_or(at::Tensor()), window_),
             rows);
}

}  // namespace lzero
