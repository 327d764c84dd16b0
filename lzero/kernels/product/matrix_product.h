// Products of float32 matrices in the CPU's vector registers: C = A B, for the shapes of this
// model's layers. The numbers depend on the shapes alone, not on the number of threads. Written
// because the libraries inside libtorch reach a third of the machine (MKL on some CPUs) or are
// reached only through switches of the whole process (oneDNN). No tensors here: see linear.h.
#ifndef LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_
#define LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_

#include <cstdint>

#include "lzero/kernels/product/packed_matrix.h"
#include "lzero/kernels/product/product_kernels.h"

namespace lzero {

struct ProductSize {
  int64_t rows = 0;     // of A and C
  int64_t columns = 0;  // of B and C
  int64_t depth = 0;    // columns of A, rows of B
};

// Columns of a matrix in segments: `jump` floats more between one and the next.
struct Segments {
  int64_t size = kWholeDepth;
  int64_t jump = 0;
};

// out [rows, columns], rows `out_stride` apart, = a [rows, depth] b + bias [columns] + addend,
// which lies as out does and may be out itself. Null: no bias, no addend. In the caller's thread.
void MultiplyRows(const MatrixView& a, int64_t rows, const PackedMatrix& b, const float* bias,
                  const float* addend, float* out, int64_t out_stride, Segments segments = {});

// out [rows, columns], contiguous, = a [rows, depth] b [depth, columns] + bias [columns]
// + addend [rows, columns], contiguous. Null: no bias, no addend. Shared by the threads of
// kernels; blocks.
void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out);

// to [rows, columns] += a^T b for a [depth, rows] and b [depth, columns], all contiguous. In the
// caller's thread; `packed` holds b after the call.
void AddTransposedProduct(const float* a, int64_t rows, const float* b, int64_t columns,
                          int64_t depth, PackedMatrix& packed, float* to);

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_
