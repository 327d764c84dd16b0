// The transformer of the world model with sliding-window attention: every token attends to itself
// and at most the W - 1 tokens before it. One definition for training (Forward over whole
// sequences) and for search (Step: one token on a cached context); both give the same numbers. Keys
// are kept before rotation and rotated by their distance when they are read, so a cached key never
// needs correction. All tensors float32 on one device unless said; gradients flow unless said.
#ifndef LZERO_NN_TRANSFORMER_H_
#define LZERO_NN_TRANSFORMER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/config/experiment_config.h"
#include "lzero/nn/attention.h"
#include "lzero/nn/layers.h"
#include "torch/nn/module.h"

namespace lzero {

// x += Attn(LN(x)); x += MLP(LN(x)), MLP = Linear(E, 4E), GELU(tanh), Linear(4E, E).
class TransformerBlock : public torch::nn::Module {
 public:
  TransformerBlock(int64_t embed_dim, int64_t num_heads, double dropout);

  // x [N, T, E] -> [N, T, E]; tables of T tokens from `attention`; num_padding, [N] int64 or
  // undefined, as there. `keys_values`, if given, receives keys (before rotation) and values,
  // [N, T, 2, E].
  at::Tensor Forward(const at::Tensor& x, const SlidingAttention& attention,
                     const SequenceTables& tables, const at::Tensor& num_padding,
                     at::Tensor* keys_values) const;

  // One new token x [B, E] on a context [B, W - 1, 2, E] (a strided view will do) -> [B, E]; mask
  // additive [B, 1, 1, W]; table RotaryTable(1 - W, W). Writes the token's own keys and values to
  // `keys_values` [B, 2, E]. Never drops out: a step is inference in either mode of the module.
  at::Tensor Step(const at::Tensor& x, const at::Tensor& context, const at::Tensor& mask,
                  const at::Tensor& table, at::Tensor* keys_values) const;

 private:
  bool IsDropping() const { return dropout_ > 0.0 && is_training(); }
  // x + MLP(LN(x)).
  at::Tensor FeedForward(const at::Tensor& x) const;
  at::Tensor Drop(const at::Tensor& x) const;

  int64_t num_heads_;
  double dropout_;
  std::shared_ptr<LayerNormLayer> norm_attention_;
  std::shared_ptr<LinearLayer> query_key_value_;
  std::shared_ptr<LinearLayer> projection_;
  std::shared_ptr<LayerNormLayer> norm_feed_forward_;
  std::shared_ptr<LinearLayer> expand_;
  std::shared_ptr<LinearLayer> contract_;
};

class Transformer : public torch::nn::Module {
 public:
  explicit Transformer(const ModelConfig& config);

  // tokens [N, T, E] -> [N, T, E]. `num_padding` [N] int64, or undefined: so many tokens at the
  // start of each row are padding and are seen by no real token. `keys_values`, if given, receives
  // [N, T, L, 2, E].
  at::Tensor Forward(const at::Tensor& tokens, const at::Tensor& num_padding,
                     at::Tensor* keys_values) const;

  // token [B, E] on contexts [B, W - 1, L, 2, E], right-aligned, mask from StepMask(lengths) -> [B,
  // E]. `keys_values` receives [B, L, 2, E] of the new token.
  at::Tensor Step(const at::Tensor& token, const at::Tensor& contexts, const at::Tensor& mask,
                  at::Tensor* keys_values) const;

  // lengths [B] int64 of valid context tokens -> additive mask [B, 1, 1, W], a constant.
  at::Tensor StepMask(const at::Tensor& lengths) const;

  int64_t context_length() const { return context_length_; }
  int64_t num_layers() const { return static_cast<int64_t>(blocks_.size()); }
  // RotaryTable(1 - W, W), complex [W, 1, D/2], a constant: what keys are rotated by in Step.
  const at::Tensor& step_table() const { return step_table_; }

 private:
  int64_t context_length_;
  SlidingAttention attention_;
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
  at::Tensor step_table_;      // RotaryTable(1 - W, W)
  at::Tensor step_distances_;  // [W] int64: W - 1, ..., 0
};

}  // namespace lzero

#endif  // LZERO_NN_TRANSFORMER_H_
