#include "lzero/nn/functional/attention_branch.h"

#include <algorithm>
#include <utility>

#include "lzero/kernels/attention_branch_kernels.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// What the node keeps, in this order.
enum Saved {
  kX,
  kNormWeight,
  kNormBias,
  kWeightIn,
  kBiasIn,
  kWeightOut,
  kBiasOut,
  kCosines,
  kSines,
  kPadding,
  kMoments,
  kQkv,
  kMixed,
  kProbabilities,
  kNumSaved
};

AttentionBranchTask TaskFor(const variable_list& saved, int64_t window) {
  AttentionBranchTask task;
  AttentionTask& attention = task.attention;
  attention.samples = saved[kX].size(0);
  attention.tokens = saved[kX].size(1);
  attention.head_size = saved[kCosines].size(1);
  attention.heads = saved[kX].size(2) / attention.head_size;
  attention.window = window;
  attention.cosines = saved[kCosines].const_data_ptr<float>();
  attention.sines = saved[kSines].const_data_ptr<float>();
  if (saved[kPadding].defined()) {
    attention.num_padding = saved[kPadding].const_data_ptr<int64_t>();
  }
  task.x = saved[kX].const_data_ptr<float>();
  task.norm_weight = saved[kNormWeight].const_data_ptr<float>();
  task.norm_bias = saved[kNormBias].const_data_ptr<float>();
  task.weight_in = saved[kWeightIn].const_data_ptr<float>();
  task.bias_in = saved[kBiasIn].const_data_ptr<float>();
  task.weight_out = saved[kWeightOut].const_data_ptr<float>();
  task.bias_out = saved[kBiasOut].const_data_ptr<float>();
  task.moments = saved[kMoments].mutable_data_ptr<float>();
  task.qkv = saved[kQkv].mutable_data_ptr<float>();
  task.mixed = saved[kMixed].mutable_data_ptr<float>();
  task.probabilities = saved[kProbabilities].mutable_data_ptr<float>();
  return task;
}

// All contiguous. Appends to `saved`, which ends with the padding, what the backward pass needs.
at::Tensor Forward(int64_t window, variable_list* saved) {
  const at::Tensor x = (*saved)[kX];
  const int64_t rows = x.size(0) * x.size(1), size = x.size(2);
  const int64_t heads = size / (*saved)[kCosines].size(1);
  const int64_t keys = std::min(window, x.size(1));
  for (const int64_t count : {2 * rows, 3 * rows * size, rows * size, rows * heads * keys}) {
    saved->push_back(at::empty({count}, x.options()));
  }
  at::Tensor y = at::empty_like(x);
  RunAttentionBranch(TaskFor(*saved, window), y.mutable_data_ptr<float>());
  return y;
}

class AttentionBranchFunction : public torch::autograd::Function<AttentionBranchFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& norm_weight,
                          const Variable& norm_bias, const Variable& weight_in,
                          const Variable& bias_in, const Variable& weight_out,
                          const Variable& bias_out, const SequenceTables* tables,
                          const at::Tensor* num_padding, int64_t window) {
    variable_list saved = {x,          norm_weight, norm_bias,       weight_in,     bias_in,
                           weight_out, bias_out,    tables->cosines, tables->sines, *num_padding};
    at::Tensor y = Forward(window, &saved);
    context->save_for_backward(std::move(saved));
    context->saved_data["window"] = window;
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("AttentionBranch");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor dy = gradients[0].contiguous();
    variable_list results;
    for (int i = kX; i <= kBiasOut; ++i) results.push_back(at::empty_like(saved[i]));
    float* to[kBiasOut + 1];
    for (int i = kX; i <= kBiasOut; ++i) to[i] = results[i].mutable_data_ptr<float>();
    RunAttentionBranchBackward(TaskFor(saved, context->saved_data["window"].toInt()),
                               dy.const_data_ptr<float>(),
                               {to[kX], to[kNormWeight], to[kNormBias], to[kWeightIn], to[kBiasIn],
                                to[kWeightOut], to[kBiasOut]});
    results.resize(kBiasOut + 4);  // nothing for tables, padding and window
    return results;
  }
};

}  // namespace

bool CanFuseAttentionBranch(const at::Tensor& x, const AttentionBranchWeights& weights) {
  const AttentionBranchWeights& w = weights;
  return CanFuse(
             {x, w.norm_weight, w.norm_bias, w.weight_in, w.bias_in, w.weight_out, w.bias_out}) &&
         x.numel() >= kFewRows * x.size(-1) &&
         w.weight_in.numel() + w.weight_out.numel() <= kMostWeights;
}

at::Tensor AttentionBranch(const at::Tensor& x, const AttentionBranchWeights& weights,
                           const SequenceTables& tables, const at::Tensor& num_padding,
                           int64_t window) {
  const at::Tensor padding = num_padding.defined() ? num_padding.contiguous() : num_padding;
  const AttentionBranchWeights& w = weights;
  const variable_list inputs = {x.contiguous(),
                                w.norm_weight.contiguous(),
                                w.norm_bias.contiguous(),
                                w.weight_in.contiguous(),
                                w.bias_in.contiguous(),
                                w.weight_out.contiguous(),
                                w.bias_out.contiguous(),
                                tables.cosines,
                                tables.sines,
                                padding};
  if (!NeedsGradient(
          {x, w.norm_weight, w.norm_bias, w.weight_in, w.bias_in, w.weight_out, w.bias_out})) {
    variable_list saved = inputs;
    return Forward(window, &saved);
  }
  return AttentionBranchFunction::apply(inputs[kX], inputs[kNormWeight], inputs[kNormBias],
                                        inputs[kWeightIn], inputs[kBiasIn], inputs[kWeightOut],
                                        inputs[kBiasOut], &tables, &padding, window);
}

}  // namespace lzero
