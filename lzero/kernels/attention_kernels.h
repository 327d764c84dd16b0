// Sliding-window attention with rotary positions over float32 arrays on the CPU: forward over
// single rows with windows of pointers (search) and over sequences, and backward (learner). Each
// head of each row is computed on its own, so the numbers depend neither on threads nor on the rest
// of the batch. No tensors here: see attention.h. [RoPE, Su et al. 2021]
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

// One layer's attention of rows with windows of their own. A token is a pointer to [L, 2, E]: keys
// before rotation and values of every layer.
struct WindowAttentionTask {
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t head_size = 0;
  const float* queries = nullptr;  // [rows, E] before rotation, query_stride apart
  int64_t query_stride = 0;
  const float* const* windows = nullptr;  // [rows, window_stride] oldest first, the row's own last
  int64_t window_stride = 0;
  const int32_t* window_sizes = nullptr;  // [rows] >= 1
  int64_t layer_offset = 0;  // from a token to its keys of this layer; values lie E behind
  // [W, table_stride] of D numbers by distance, as those of AttentionTask by place.
  const float* cosines = nullptr;
  const float* sines = nullptr;
  int64_t table_stride = 0;
  float* scores = nullptr;  // scratch [heads, W rounded up to 16]
};

// out [rows, E], rows out_stride apart. In the caller's thread.
void AttendWindows(const WindowAttentionTask& task, float* out, int64_t out_stride);

}  // namespace lzero

#endif  // LZERO_KERNELS_ATTENTION_KERNELS_H_
