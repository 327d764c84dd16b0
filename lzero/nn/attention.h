// Sliding-window attention of whole sequences: every token attends to itself and at most the W - 1
// tokens before it, with rotary positions [RoPE, Su et al. 2021]. Kernels of attention_kernels.h on
// the CPU, plain operations elsewhere and where attention drops out. Pure functions but for the
// tables, which are kept from call to call.
#ifndef LZERO_NN_ATTENTION_H_
#define LZERO_NN_ATTENTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "ATen/core/Tensor.h"

namespace lzero {

// Constants, float32, of sequences of one length T and heads of one size D. No gradients.
struct SequenceTables {
  int64_t num_tokens = 0;  // T
  at::Tensor rotary;       // RotaryTable(0, T), complex [T, 1, D/2]
  at::Tensor cosines;      // [T, D] of both channels of each rotated pair
  at::Tensor sines;        // [T, D] negative for the first channel of a pair
  at::Tensor band_mask;    // [T, T] additive: 0 where the key is in the window, else -inf
};

class SlidingAttention {
 public:
  // `window` is W in tokens, `head_size` D is even.
  SlidingAttention(int64_t window, int64_t head_size)
      : window_(window), head_size_(head_size), kept_(std::make_shared<Kept>()) {}

  int64_t window() const { return window_; }

  // The tables of sequences of `num_tokens` on `device`, those of the last call if it asked for the
  // same. On a device those of every length are kept: captured work may read them. Any thread.
  std::shared_ptr<const SequenceTables> Tables(int64_t num_tokens,
                                               at::Device device = at::kCPU) const;

  // qkv [N, T, 3 E] float32, queries, keys and values of T = tables.num_tokens tokens -> [N, T, E].
  // num_padding [N] int64, or undefined: so many tokens at the start of each sample are seen by no
  // other token and see themselves only. `dropout` is the dropped share of the attention's
  // probabilities. Gradients flow to qkv.
  at::Tensor Run(const at::Tensor& qkv, const SequenceTables& tables, const at::Tensor& num_padding,
                 double dropout) const;

 private:
  at::Tensor RunPlain(const at::Tensor& qkv, const SequenceTables& tables,
                      const at::Tensor& num_padding, double dropout) const;

  struct Kept {
    std::mutex mutex;
    std::map<int64_t, std::shared_ptr<const SequenceTables>> tables;  // guarded by mutex
  };

  int64_t window_;
  int64_t head_size_;
  std::shared_ptr<Kept> kept_;
};

}  // namespace lzero

#endif  // LZERO_NN_ATTENTION_H_
