#include "lzero/nn/transformer.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/nn/rotary.h"
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
  return dropout_ > 0.0 && is_training() ? at::dropout(x, dropout_, true) : x;
}

at::Tensor TransformerBlock::FeedForward(const at::Tensor& x) const {
  const at::Tensor hidden = at::gelu(expand_->Forward(norm_feed_forward_->Forward(x)), "tanh");
  return contract_->Forward(hidden);
}

at::Tensor TransformerBlock::Forward(const at::Tensor& x, const at::Tensor& mask,
                                     const at::Tensor& table, at::Tensor* keys_values) const {
  const int64_t embed_dim = x.size(-1);
  // [N, T, 3, H, D]
  const at::Tensor qkv = query_key_value_->Forward(norm_attention_->Forward(x));
  const at::Tensor heads = qkv.unflatten(-1, {3, num_heads_, -1});
  if (keys_values != nullptr) *keys_values = qkv.unflatten(-1, {3, embed_dim}).narrow(2, 1, 2);
  const at::Tensor query = Rotate(heads.select(2, 0), table).transpose(1, 2);
  const at::Tensor key = Rotate(heads.select(2, 1), table).transpose(1, 2);
  const at::Tensor value = heads.select(2, 2).transpose(1, 2);
  const at::Tensor mixed = at::scaled_dot_product_attention(
      query, key, value, mask, is_training() ? dropout_ : 0.0, /*is_causal=*/false);
  const at::Tensor y = x + Drop(projection_->Forward(mixed.transpose(1, 2).flatten(-2)));
  return y + Drop(FeedForward(y));
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
  return y + FeedForward(y);
}

Transformer::Transformer(const ModelConfig& config)
    : context_length_(config.context_length), head_size_(config.embed_dim / config.num_heads) {
  LZ_CHECK(config.embed_dim % config.num_heads == 0, config.embed_dim, " / ", config.num_heads);
  for (int64_t i = 0; i < config.num_layers; ++i) {
    blocks_.push_back(register_module(
        absl::StrCat("block", i),
        std::make_shared<TransformerBlock>(config.embed_dim, config.num_heads, config.dropout)));
  }
  step_table_ = RotaryTable(1 - context_length_, context_length_, head_size_);
  step_distances_ = at::arange(context_length_ - 1, -1, -1, at::kLong);
}

at::Tensor Transformer::BandMask(int64_t num_tokens) const {
  const at::Tensor positions = at::arange(num_tokens, at::kLong);
  const at::Tensor distance = positions.unsqueeze(1) - positions.unsqueeze(0);
  const at::Tensor allowed = at::logical_and(distance >= 0, distance < context_length_);
  return at::zeros({num_tokens, num_tokens}).masked_fill_(at::logical_not(allowed), kMinusInfinity);
}

at::Tensor Transformer::Forward(const at::Tensor& tokens, const at::Tensor& num_padding,
                                at::Tensor* keys_values) const {
  const int64_t num_tokens = tokens.size(1);
  const at::Tensor table = RotaryTable(0, num_tokens, head_size_);
  at::Tensor mask = BandMask(num_tokens);
  if (num_padding.defined()) {
    // A padding token sees itself only, so that its row of the softmax is not empty.
    const at::Tensor positions = at::arange(num_tokens, at::kLong);
    const at::Tensor hidden = (positions < num_padding.unsqueeze(1)).unsqueeze(1);  // [N, 1, T]
    const at::Tensor other = at::eye(num_tokens, at::kBool).logical_not_();
    mask = mask.masked_fill(at::logical_and(hidden, other), kMinusInfinity).unsqueeze(1);
  }
  at::Tensor x = tokens;
  std::vector<at::Tensor> layers(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i]->Forward(x, mask, table, keys_values != nullptr ? &layers[i] : nullptr);
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
  return at::zeros(hidden.sizes()).masked_fill_(hidden, kMinusInfinity).unsqueeze(1).unsqueeze(1);
}

}  // namespace lzero
