// The product of rows with a packed matrix and what packs one, compiled once for each instruction
// set. No threads, no allocation, no state: callers say which rows and which panels. Any thread.
//
// Rows are float32. NaN comes out as NaN. Every output row depends on its own input row alone, bit
// for bit, however many rows a call has.
#ifndef LZERO_KERNELS_PRODUCT_PRODUCT_KERNELS_H_
#define LZERO_KERNELS_PRODUCT_PRODUCT_KERNELS_H_

#include <cstdint>

#include "lzero/kernels/product/packed_matrix.h"

namespace lzero {

// More inputs than any product has.
inline constexpr int64_t kWholeDepth = int64_t{1} << 62;
// fp32 weights: so many inputs are summed at once, these sums are added in order.
constexpr int64_t kDepthBlock = 256;

// y = x W^T + addend + bias, then GELU if asked for.
struct ProductCall {
  const PackedMatrix* matrix = nullptr;
  // [num_rows, in], element (r, k) at r * x_stride + k * x_step, and one x_jump more for every
  // x_segment inputs before it (fp32 weights only).
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t x_step = 1;
  int64_t x_segment = kWholeDepth;
  int64_t x_jump = 0;
  float* y = nullptr;  // [num_rows, columns], rows y_stride apart
  int64_t y_stride = 0;
  int64_t num_rows = 0;
  int64_t first_panel = 0;  // only the columns of these panels are written
  int64_t end_panel = 0;
  int64_t columns = 0;            // of y that may be written: out of the matrix, or whole panels
  const float* bias = nullptr;    // [columns]; null: none
  const float* addend = nullptr;  // as y, may be y; null: none
  bool gelu = false;              // bf16 weights: into whole panels alone
  uint32_t* half_x = nullptr;     // kBf16 only: scratch for num_rows * ((in + 1) / 2) pairs of x
};

void RunProduct(const ProductCall& call);

// What happens to x W^T + b before it is written.
enum class Epilogue {
  kStore,
  kGelu,  // GELU(tanh)
  kAdd,   // added to what `y` holds: the residual
};

// The product with the bias of the matrix, into rows of whole panels.
struct LinearCall {
  const PackedMatrix* matrix;
  Epilogue epilogue;
  const float* x;  // [num_rows, in]
  int64_t x_stride;
  float* y;  // [num_rows, PaddedSize(out)], columns of the panels alone are written
  int64_t y_stride;
  int64_t num_rows;
  int64_t first_panel;
  int64_t end_panel;
  uint32_t* half_x;  // as that of ProductCall
};

void Linear(const LinearCall& call);

// b [depth, columns] into fp32 panels of 16 columns, zeros behind the last column.
void PackPanels(const MatrixView& b, int64_t depth, int64_t columns, float* panels);

// Adds the sums of the columns of values [rows, columns], contiguous, to sums [columns].
void AddColumnSums(const float* values, int64_t rows, int64_t columns, float* sums);

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_PRODUCT_KERNELS_H_
