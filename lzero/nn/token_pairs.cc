#include "lzero/nn/token_pairs.h"

#include <algorithm>

#include "lzero/base/check.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

void CopyRow(const float* from, int64_t size, float* to) { std::copy_n(from, size, to); }

at::Tensor Pair(const at::Tensor& latents, const at::Tensor& embeddings,
                const at::Tensor& actions) {
  const int64_t size = latents.size(2), num_actions = embeddings.size(0);
  at::Tensor tokens = at::empty({latents.size(0), 2 * latents.size(1), size}, latents.options());
  const float* latent = latents.const_data_ptr<float>();
  const float* embedding = embeddings.const_data_ptr<float>();
  const int32_t* action = actions.const_data_ptr<int32_t>();
  float* to = tokens.mutable_data_ptr<float>();
  for (int64_t i = 0; i < actions.numel(); ++i, to += 2 * size) {
    LZ_CHECK(action[i] >= 0 && action[i] < num_actions, "action ", action[i], " of ", num_actions);
    CopyRow(latent + i * size, size, to);
    CopyRow(embedding + action[i] * size, size, to + size);
  }
  return tokens;
}

class PairFunction : public torch::autograd::Function<PairFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& latents,
                          const Variable& embeddings, const Variable& actions) {
    context->save_for_backward({actions});
    context->saved_data["num_actions"] = embeddings.size(0);
    return Pair(latents, embeddings, actions);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("PairTokens");
    const at::Tensor actions = context->get_saved_variables()[0];
    const at::Tensor dtokens = gradients[0].contiguous();
    const int64_t size = dtokens.size(2);
    const at::Tensor dlatents =
        at::empty({actions.size(0), actions.size(1), size}, dtokens.options());
    const at::Tensor dembeddings =
        at::zeros({context->saved_data["num_actions"].toInt(), size}, dtokens.options());
    const int32_t* action = actions.const_data_ptr<int32_t>();
    const float* from = dtokens.const_data_ptr<float>();
    float* latent = dlatents.mutable_data_ptr<float>();
    float* embeddings = dembeddings.mutable_data_ptr<float>();
    for (int64_t i = 0; i < actions.numel(); ++i, from += 2 * size) {
      CopyRow(from, size, latent + i * size);
      float* embedding = embeddings + action[i] * size;
      for (int64_t j = 0; j < size; ++j) embedding[j] += from[size + j];
    }
    return {dlatents, dembeddings, at::Tensor()};
  }
};

variable_list Split(const at::Tensor& outputs, int64_t num_left_out) {
  const int64_t samples = outputs.size(0), steps = outputs.size(1) / 2, size = outputs.size(2);
  const int64_t kept = steps - num_left_out;
  variable_list parts = {at::empty({samples, kept, size}, outputs.options()),
                         at::empty({samples, kept, size}, outputs.options())};
  float* at_observation = parts[0].mutable_data_ptr<float>();
  float* at_action = parts[1].mutable_data_ptr<float>();
  for (int64_t sample = 0; sample < samples; ++sample) {
    const float* from =
        outputs.const_data_ptr<float>() + 2 * (sample * steps + num_left_out) * size;
    for (int64_t step = 0; step < kept; ++step, from += 2 * size) {
      const int64_t at = (sample * kept + step) * size;
      CopyRow(from, size, at_observation + at);
      CopyRow(from + size, size, at_action + at);
    }
  }
  return parts;
}

class SplitFunction : public torch::autograd::Function<SplitFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Variable& outputs,
                               int64_t num_left_out) {
    context->saved_data["num_left_out"] = num_left_out;
    return Split(outputs, num_left_out);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("SplitTokens");
    const int64_t num_left_out = context->saved_data["num_left_out"].toInt();
    const at::Tensor at_observations = gradients[0].contiguous();
    const at::Tensor at_actions = gradients[1].contiguous();
    const int64_t samples = at_actions.size(0), kept = at_actions.size(1);
    const int64_t steps = kept + num_left_out, size = at_actions.size(2);
    const at::Tensor doutputs = at::empty({samples, 2 * steps, size}, at_actions.options());
    const float* at_observation = at_observations.const_data_ptr<float>();
    const float* at_action = at_actions.const_data_ptr<float>();
    float* to = doutputs.mutable_data_ptr<float>();
    for (int64_t sample = 0; sample < samples; ++sample) {
      to = std::fill_n(to, 2 * num_left_out * size, 0.0f);
      for (int64_t step = 0; step < kept; ++step, to += 2 * size) {
        const int64_t at = (sample * kept + step) * size;
        CopyRow(at_observation + at, size, to);
        CopyRow(at_action + at, size, to + size);
      }
    }
    return {doutputs, at::Tensor()};
  }
};

}  // namespace

at::Tensor PairTokens(const at::Tensor& latents, const at::Tensor& embeddings,
                      const at::Tensor& actions) {
  LZ_CHECK(latents.dim() == 3 && actions.dim() == 2 && embeddings.dim() == 2 &&
               latents.size(0) == actions.size(0) && latents.size(1) == actions.size(1) &&
               latents.size(2) == embeddings.size(1),
           c10::str("latents ", latents.sizes(), ", embeddings ", embeddings.sizes(), ", actions ",
                    actions.sizes()));
  if (!CanFuse({latents, embeddings}) || actions.scalar_type() != at::kInt) {
    return at::stack({latents, at::embedding(embeddings, actions)}, 2).flatten(1, 2);
  }
  const at::Tensor a = latents.contiguous(), b = embeddings.contiguous(), c = actions.contiguous();
  return NeedsGradient({a, b}) ? PairFunction::apply(a, b, c) : Pair(a, b, c);
}

TokenPairs SplitTokens(const at::Tensor& outputs, int64_t num_left_out) {
  LZ_CHECK(outputs.dim() == 3 && outputs.size(1) % 2 == 0,
           c10::str("no pairs: outputs ", outputs.sizes()));
  LZ_CHECK(num_left_out >= 0 && 2 * num_left_out < outputs.size(1), num_left_out, " steps of ",
           outputs.size(1), " tokens");
  if (!CanFuse({outputs})) {
    const std::vector<at::Tensor> kinds =
        outputs.unflatten(1, {-1, 2}).slice(1, num_left_out).unbind(2);
    return {kinds[0].contiguous(), kinds[1].contiguous()};
  }
  const at::Tensor rows = outputs.contiguous();
  const variable_list parts =
      NeedsGradient({rows}) ? SplitFunction::apply(rows, num_left_out) : Split(rows, num_left_out);
  return {parts[0], parts[1]};
}

}  // namespace lzero
