// The arithmetic of the packed step: products with packed matrices and the fused row operations
// between them, compiled once for each instruction set and chosen when the program runs. No
// threads, no allocation, no state: callers say which rows and which panels. Any thread.
//
// Rows are float32 and lie `stride` floats apart; what lies between a row's length and its stride
// may be overwritten. NaN comes out as NaN. Every output row depends on its own input row alone,
// bit for bit, however many rows a call has.
#ifndef LZERO_KERNELS_PACKED_KERNELS_H_
#define LZERO_KERNELS_PACKED_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/kernels/packed/packed_matrix.h"

namespace lzero::packed {

// What happens to x W^T + b before it is written.
enum class Epilogue {
  kStore,
  kGelu,  // GELU(tanh)
  kAdd,   // added to what `y` holds: the residual
};

struct LinearCall {
  const PackedMatrix* matrix;
  Epilogue epilogue;
  const float* x;  // [num_rows, in]
  int64_t x_stride;
  float* y;  // [num_rows, PaddedSize(out)], columns of the panels alone are written; aligned
  int64_t y_stride;  // whole panels
  int64_t num_rows;
  int64_t first_panel;
  int64_t end_panel;
  // kBf16 only: scratch for num_rows * ((in + 1) / 2) pairs of x.
  uint32_t* half_x;
};

struct RowsCall {
  const float* x;  // [num_rows, size]
  int64_t x_stride;
  float* y;  // may be x
  int64_t y_stride;
  int64_t num_rows;
  int64_t size;
};

// Sliding-window attention of one layer for rows with windows of their own. A token is a pointer to
// [L, 2, E]: keys before rotation and values of every layer.
struct AttendCall {
  const float* queries;  // [num_rows, E]
  int64_t query_stride;
  float* y;  // [num_rows, E]
  int64_t y_stride;
  int64_t num_rows;
  const float* const* windows;  // [num_rows, window_stride]: oldest token first, the row's own last
  int64_t window_stride;
  const int32_t* window_sizes;  // [num_rows] >= 1
  int64_t layer_offset;         // from a token to its keys of this layer; values lie E behind
  int64_t num_heads;
  int64_t head_size;
  // [W, PaddedSize(head_size)] by distance, each angle twice; of the two sines the first is
  // negated.
  const float* cosines;
  const float* sines;
  float* scores;  // scratch [num_heads, PaddedSize(W)], aligned
};

struct Kernels {
  const char* name;  // "AVX-512 with bf16", "AVX-512", "AVX2", "scalar"
  void (*linear)(const LinearCall&);
  // (x - mean) / sqrt(variance + 1e-5) of each row.
  void (*normalize)(const RowsCall&);
  // The same, times scale [size] plus shift [size], then GELU(tanh).
  void (*normalize_gelu)(const RowsCall&, const float* scale, const float* shift);
  // Softmax over each `group` neighbours of a row; `size` is a multiple of it. [SimNorm]
  void (*softmax_groups)(const RowsCall&, int64_t group);
  void (*attend)(const AttendCall&);
  // Expected value of softmax(row) over the atoms -K .. K, size = 2 K + 1, before the inverse value
  // transform: y[row * y_stride].
  void (*expected_atom)(const RowsCall&);
};

// The best that this machine has.
const Kernels& BestKernels();
// All that this machine can run, best first: for tests and benchmarks.
std::vector<const Kernels*> AvailableKernels();

}  // namespace lzero::packed

#endif  // LZERO_KERNELS_PACKED_KERNELS_H_
