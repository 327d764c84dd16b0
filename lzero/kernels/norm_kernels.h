// Kernels of LayerNorm, SimNorm and GELU over float32 rows on the CPU, forward and backward, in the
// CPU's vector registers. Every row depends on itself alone, bit for bit, and the numbers do not
// depend on the number of threads. No tensors here: see norm.h.
#ifndef LZERO_KERNELS_NORM_KERNELS_H_
#define LZERO_KERNELS_NORM_KERNELS_H_

#include <cstdint>

namespace lzero {

constexpr float kNormEpsilon = 1e-5f;

// What normalises rows [rows, size] and what follows: weight and bias [size] (null: none), and
// after these GELU if asked for.
struct NormTask {
  int64_t rows = 0;
  int64_t size = 0;
  const float* x = nullptr;  // [rows, size]
  const float* weight = nullptr;
  const float* bias = nullptr;
  bool gelu = false;
  float* means = nullptr;               // [rows], written by the forward pass; null: not kept
  float* inverse_deviations = nullptr;  // [rows] 1 / sqrt(variance + epsilon), likewise
  // In the forward pass of NormRows: the distances of two rows.
  int64_t x_stride = 0;
  int64_t y_stride = 0;
  // In the backward pass:
  float* again = nullptr;         // [rows, size] takes the output of GELU once more
  const float* addend = nullptr;  // [rows, size] is added to dx, which may not be this
};

// y [rows, size], rows y_stride apart, from rows of x that are x_stride apart; y may be x. In the
// caller's thread.
void NormRows(const NormTask& task, float* y);

// The same for contiguous rows, shared by the threads of kernels.
void RunNorm(NormTask task, float* y);

// Gradients of the input dx [rows, size] and, unless weight is null, of both parameters [size], for
// the gradient dy [rows, size] of the output. dx may be dy. All contiguous.
void RunNormBackward(const NormTask& task, const float* dy, float* dx, float* dweight,
                     float* dbias);

// The same in the caller's thread, for some rows of many: the gradients of weight and bias are
// added to dweight and dbias [size], null without them.
void AddNormBackward(const NormTask& task, const float* dy, float* dx, float* dweight,
                     float* dbias);

// y [count] = gelu(x), and dx = dy gelu'(x).
void RunGelu(int64_t count, const float* x, float* y);
// `again` [count], if given, takes gelu(x) once more. dx may be dy.
void RunGeluBackward(int64_t count, const float* x, const float* dy, float* dx, float* again);

// y [rows, size]: softmax over each `group` neighbours of a row of x, `size` a multiple of it. Rows
// lie strides apart; y may be x. In the caller's thread. [SimNorm, Hansen et al. 2024]
void RunSimNorm(int64_t rows, int64_t size, int64_t group, const float* x, int64_t x_stride,
                float* y, int64_t y_stride);

}  // namespace lzero

#endif  // LZERO_KERNELS_NORM_KERNELS_H_
