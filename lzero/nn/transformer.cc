#include "lzero/nn/transformer.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/nn/functional/attention_branch.h"
#include "lzero/nn/functional/linear.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/nn/functional/perceptron.h"
#include "lzero/nn/functional/rotary.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

}  // namespace

TransformerBlock::TransformerBlock(int64_t embed_dim, int64_t num_heads, double dropout)
    : num_heads_(num_heads),
      dropout_(dropout),
      norm_attention_(
          register_module("norm_attention", std::make_shared<LayerNormLayer>(embed_dim))),
      query_key_value_(
          register_module("qkv", std::make_shared<LinearLayer>(embed_dim, 3 * embed_dim))),
      projection_(
          register_module("projection", std::make_shared<LinearLayer>(embed_dim, embed_dim))),
      norm_feed_forward_(
          register_module("norm_feed_forward", std::make_shared<LayerNormLayer>(embed_dim))),
      expand_(register_module("expand", std::make_shared<LinearLayer>(embed_dim, 4 * embed_dim))),
      contract_(
          register_module("contract", std::make_shared<LinearLayer>(4 * embed_dim, embed_dim))) {}

at::Tensor TransformerBlock::Drop(const at::Tensor& x) const {
  return at::dropout(x, dropout_, true);
}

at::Tensor TransformerBlock::FeedForward(const at::Tensor& x) const {
  const PerceptronWeights weights = {
      norm_feed_forward_->weight, norm_feed_forward_->bias, expand_->weight, expand_->bias, {}, {},
      contract_->weight,          contract_->bias};
  if (IsDropping()) return x + Drop(Perceptron(x, weights, /*residual=*/false));
  return Perceptron(x, weights, /*residual=*/true);
}

at::Tensor TransformerBlock::Forward(const at::Tensor& x, const SlidingAttention& attention,
                                     const SequenceTables& tables, const at::Tensor& num_padding,
                                     at::Tensor* keys_values) const {
  const AttentionBranchWeights branch = {norm_attention_->weight,  norm_attention_->bias,
                                         query_key_value_->weight, query_key_value_->bias,
                                         projection_->weight,      projection_->bias};
  const bool is_sequence = tables.num_tokens > 1;
  if (is_sequence && keys_values == nullptr && !IsDropping() && CanFuseAttentionBranch(x, branch)) {
    return FeedForward(AttentionBranch(x, branch, tables, num_padding, attention.window()));
  }
  const int64_t embed_dim = x.size(-1);
  const at::Tensor normal = norm_attention_->Forward(x);
  at::Tensor mixed;
  if (!is_sequence && keys_values == nullptr && !IsDropping()) {
    // A token that sees itself alone takes its own value, whatever query and key are.
    mixed = Linear(normal, query_key_value_->weight.narrow(0, 2 * embed_dim, embed_dim),
                   query_key_value_->bias.narrow(0, 2 * embed_dim, embed_dim));
  } else {
    const at::Tensor qkv = query_key_value_->Forward(normal);  // [N, T, 3 E]
    if (keys_values != nullptr) *keys_values = qkv.unflatten(-1, {3, embed_dim}).narrow(2, 1, 2);
    mixed = attention.Run(qkv, tables, num_padding, IsDropping() ? dropout_ : 0.0);
  }
  if (IsDropping()) return FeedForward(x + Drop(projection_->Forward(mixed)));
  return FeedForward(projection_->ForwardAdd(mixed, x));
}

at::Tensor TransformerBlock::Step(const at::Tensor& x, const at::Tensor& context,
                                  const at::Tensor& mask, const at::Tensor& table,
                                  at::Tensor* keys_values) const {
  const int64_t embed_dim = x.size(-1);
  const at::Tensor qkv =
      query_key_value_->Forward(norm_attention_->Forward(x)).unflatten(-1, {3, embed_dim});
  *keys_values = qkv.narrow(1, 1, 2);
  // [B, W, 2, E]: the context and the token itself.
  const at::Tensor window = at::cat({context, keys_values->unsqueeze(1)}, 1);
  const at::Tensor heads = window.unflatten(-1, {num_heads_, -1});
  const at::Tensor query = qkv.select(1, 0).unflatten(-1, {num_heads_, -1}).unsqueeze(2);
  const at::Tensor key = Rotate(heads.select(2, 0), table).transpose(1, 2);
  const at::Tensor value = heads.select(2, 1).transpose(1, 2);
  const at::Tensor mixed =
      at::scaled_dot_product_attention(query, key, value, mask, 0.0, /*is_causal=*/false);
  const at::Tensor y = x + projection_->Forward(mixed.flatten(1));
  const at::Tensor hidden = Gelu(expand_->Forward(norm_feed_forward_->Forward(y)));
  return y + contract_->Forward(hidden);
}

Transformer::Transformer(const ModelConfig& config)
    : context_length_(config.context_length),
      attention_(config.context_length, config.embed_dim / config.num_heads) {
  LZ_CHECK(config.embed_dim % config.num_heads == 0, config.embed_dim, " / ", config.num_heads);
  for (int64_t i = 0; i < config.num_layers; ++i) {
    blocks_.push_back(register_module(
        absl::StrCat("block", i),
        std::make_shared<TransformerBlock>(config.embed_dim, config.num_heads, config.dropout)));
  }
  if (WeightDevice().is_meta()) return;
  // Buffers, so that they move with the weights.
  step_table_ = register_buffer("step_table", RotaryTable(1 - context_length_, context_length_,
                                                          config.embed_dim / config.num_heads));
  step_distances_ =
      register_buffer("step_distances", at::arange(context_length_ - 1, -1, -1, at::kLong));
}

at::Tensor Transformer::Forward(const at::Tensor& tokens, const at::Tensor& num_padding,
                                at::Tensor* keys_values) const {
  const std::shared_ptr<const SequenceTables> tables =
      attention_.Tables(tokens.size(1), tokens.device());
  at::Tensor x = tokens;
  std::vector<at::Tensor> layers(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i]->Forward(x, attention_, *tables, num_padding,
                            keys_values != nullptr ? &layers[i] : nullptr);
  }
  if (keys_values != nullptr) *keys_values = at::stack(layers, 2);
  return x;
}

at::Tensor Transformer::Step(const at::Tensor& token, const at::Tensor& contexts,
                             const at::Tensor& mask, at::Tensor* keys_values) const {
  at::Tensor x = token;
  std::vector<at::Tensor> layers(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i]->Step(x, contexts.select(2, static_cast<int64_t>(i)), mask, step_table_,
                         &layers[i]);
  }
  *keys_values = at::stack(layers, 1);
  return x;
}

at::Tensor Transformer::StepMask(const at::Tensor& lengths) const {
  const at::Tensor hidden = step_distances_ > lengths.unsqueeze(1);  // [B, W]
  const auto floats = at::TensorOptions().device(hidden.device());
  return at::zeros(hidden.sizes(), floats)
      .masked_fill_(hidden, kMinusInfinity)
      .unsqueeze(1)
      .unsqueeze(1);
}

}  // namespace lzero
