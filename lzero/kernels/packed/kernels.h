// Products of rows with packed matrices, compiled once for each instruction set. No threads, no
// allocation, no state: callers say which rows and which panels. Any thread.
//
// Rows are float32 and lie `stride` floats apart; what lies between a row's length and its stride
// may be overwritten. NaN comes out as NaN. Every output row depends on its own input row alone,
// bit for bit, however many rows a call has.
#ifndef LZERO_KERNELS_PACKED_KERNELS_H_
#define LZERO_KERNELS_PACKED_KERNELS_H_

#include <cstdint>

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

// With the kernels of the current instruction set.
void Linear(const LinearCall& call);

}  // namespace lzero::packed

#endif  // LZERO_KERNELS_PACKED_KERNELS_H_
