// Products of float32 matrices in the CPU's vector registers: C = A B, for the shapes of this
// model's layers. The numbers depend on the shapes alone, not on the number of threads. Written
// because the libraries inside libtorch reach a third of the machine (MKL on some CPUs) or are
// reached only through switches of the whole process (oneDNN). No tensors here: see linear.h.
#ifndef LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_
#define LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_

#include <cstdint>
#include <vector>

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

// A matrix b [depth, columns] in the order in which products read it. Packed again, it allocates
// only to grow.
class PanelMatrix {
 public:
  void Pack(const MatrixView& b, int64_t depth, int64_t columns);

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  // The panel of columns `column` .. of the block of depths that begins at `first_depth`.
  const float* Panel(int64_t first_depth, int64_t column) const;

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  int64_t padded_columns_ = 0;
  std::vector<float> storage_;
  float* panels_ = nullptr;  // aligned, in storage_
};

// out [rows, columns], rows `out_stride` apart, = a [rows, depth] b + bias [columns] + addend,
// which lies as out does and may be out itself. Null: no bias, no addend. In the caller's thread.
void MultiplyRows(const MatrixView& a, int64_t rows, const PanelMatrix& b, const float* bias,
                  const float* addend, float* out, int64_t out_stride);

// out [rows, columns], contiguous, = a [rows, depth] b [depth, columns] + bias [columns]
// + addend [rows, columns], contiguous. Null: no bias, no addend. Runs on torch's threads of
// operations; blocks.
void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out);

// to [rows, columns] += a^T b for a [depth, rows] and b [depth, columns], all contiguous. In the
// caller's thread; `packed` holds b after the call.
void AddTransposedProduct(const float* a, int64_t rows, const float* b, int64_t columns,
                          int64_t depth, PanelMatrix& packed, float* to);

// Adds the sums of the columns of values [rows, columns], contiguous, to sums [columns].
void AddColumnSums(const float* values, int64_t rows, int64_t columns, float* sums);

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_MATRIX_PRODUCT_H_
