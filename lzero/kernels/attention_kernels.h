// Sliding-window attention with rotary positions over contiguous float32 arrays on the CPU, forward
// and backward, in the CPU's vector registers. Each head of each sample is computed on its own, so
// the numbers depend neither on threads nor on the rest of the batch. No tensors here: see
// attention.h.
#ifndef LZERO_KERNELS_ATTENTION_KERNELS_H_
#define LZERO_KERNELS_ATTENTION_KERNELS_H_

#include <cstdint>

namespace lzero {

// Axes: N samples, T tokens, H heads, D head size (even), K = min(window, T) keys at most.
struct AttentionTask {
  int64_t samples = 0;
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t window = 0;                    // a token sees itself and window - 1 before it
  const float* qkv = nullptr;            // [N, T, 3, H, D] queries, keys, values
  const float* cosines = nullptr;        // [T, D] of both channels of each rotated pair
  const float* sines = nullptr;          // [T, D] negative for the first of a pair
  const int64_t* num_padding = nullptr;  // [N] such tokens see and are seen by themselves only
  float* probabilities = nullptr;        // [N, H, T, K] from a token's first key on, by the forward
};

int64_t NumKeys(const AttentionTask& task);

// out [N, T, H, D].
void RunAttention(const AttentionTask& task, float* out);

// The gradient dqkv [N, T, 3, H, D] for the gradient dout [N, T, H, D].
void RunAttentionBackward(const AttentionTask& task, const float* dout, float* dqkv);

}  // namespace lzero

#endif  // LZERO_KERNELS_ATTENTION_KERNELS_H_
