// Rotary positions [RoPE, Su et al. 2021]: pairs of channels are rotated by position * theta_i, so
// a product of a rotated query and a rotated key depends on their distance only. Pure functions.
#ifndef LZERO_NN_FUNCTIONAL_ROTARY_H_
#define LZERO_NN_FUNCTIONAL_ROTARY_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// exp(i * position * theta_j) for positions first .. first + count - 1, theta_j = 10000^(-2j/D):
// [count, 1, D/2] complex64 on the CPU, a constant. D = head_size, even.
at::Tensor RotaryTable(int64_t first, int64_t count, int64_t head_size);

// Rotates x [..., T, H, D] float32 or bfloat16 (last dimension contiguous) by table [T, 1, D/2]
// complex64 -> [..., T, H, D] float32. Gradients flow to x.
at::Tensor Rotate(const at::Tensor& x, const at::Tensor& table);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_ROTARY_H_
