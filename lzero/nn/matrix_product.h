// Products of float32 matrices in the CPU's vector registers: C = A B, for the shapes of this
// model's layers. The numbers depend on the shapes alone, not on the number of threads. Written
// because the libraries inside libtorch reach a third of the machine (MKL on some CPUs) or are
// reached only through switches of the whole process (oneDNN). No tensors here: see linear.h.
#ifndef LZERO_NN_MATRIX_PRODUCT_H_
#define LZERO_NN_MATRIX_PRODUCT_H_

#include <cstdint>

namespace lzero {

// Element (i, j) is values[i * row_stride + j * column_stride]; one of the strides is 1.
struct MatrixView {
  const float* values = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;

  MatrixView Transposed() const { return {values, column_stride, row_stride}; }
};

struct ProductSize {
  int64_t rows = 0;     // of A and C
  int64_t columns = 0;  // of B and C
  int64_t depth = 0;    // columns of A, rows of B
};

// out [rows, columns], contiguous, = a [rows, depth] b [depth, columns] + bias [columns]
// + addend [rows, columns], contiguous. Null: no bias, no addend. Runs on torch's threads of
// operations; blocks.
void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out);

// out [columns] = the sums of the columns of values [rows, columns], contiguous.
void SumColumns(const float* values, int64_t rows, int64_t columns, float* out);

}  // namespace lzero

#endif  // LZERO_NN_MATRIX_PRODUCT_H_
