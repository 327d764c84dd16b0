// A random linear layer in packed form, and what its product must give: for the tests of the
// products with fp32 and with bf16 weights.
#ifndef LZERO_TESTS_KERNELS_PRODUCT_PRODUCT_TESTING_H_
#define LZERO_TESTS_KERNELS_PRODUCT_PRODUCT_TESTING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "lzero/kernels/product/packed_matrix.h"
#include "lzero/kernels/product/product_kernels.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/packed_reference.h"

namespace lzero {

inline constexpr Epilogue kEpilogues[] = {Epilogue::kStore, Epilogue::kGelu, Epilogue::kAdd};

// To 8 significant bits, ties to even: bf16 for numbers that are neither tiny nor huge.
inline float RoundedTo8Bits(float value) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(value), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(mantissa * 256.0), exponent - 8));
}

class TestLayer {
 public:
  // Weights and biases in [-1, 1).
  TestLayer(int64_t in, int64_t out, WeightType type, std::mt19937* random)
      : weight_(RandomNumbers(random, in * out, -1.0f, 1.0f)),
        bias_(RandomNumbers(random, out, -1.0f, 1.0f)),
        matrix_(in, out, type) {
    matrix_.Pack({weight_, bias_}, nullptr);
    if (type == WeightType::kBf16) {
      for (float& weight : weight_) weight = RoundedTo8Bits(weight);
    }
  }

  const PackedMatrix& matrix() const { return matrix_; }

  // Rows of `x` through the panels [first, end) into the first rows of `y`.
  void Run(Epilogue epilogue, const float* x, int64_t x_stride, int64_t num_rows,
           int64_t first_panel, int64_t end_panel, Rows* y) const {
    const int64_t pairs = matrix_.type() == WeightType::kBf16 ? (matrix_.in() + 1) / 2 : 0;
    std::vector<uint32_t> half_x(static_cast<size_t>(num_rows * pairs), 0xffffffffu);
    LinearCall call;
    call.matrix = &matrix_;
    call.epilogue = epilogue;
    call.x = x;
    call.x_stride = x_stride;
    call.y = y->row(0);
    call.y_stride = y->stride();
    call.num_rows = num_rows;
    call.first_panel = first_panel;
    call.end_panel = end_panel;
    call.half_x = half_x.data();
    Linear(call);
  }

  // What one row must give where `y` held `before`; rounded inputs with bf16.
  packed::reference::Row Expected(Epilogue epilogue, const float* x, const float* before) const {
    packed::reference::Row row = packed::reference::RowOf(x, matrix_.in());
    if (matrix_.type() == WeightType::kBf16) {
      for (double& number : row) number = RoundedTo8Bits(static_cast<float>(number));
    }
    row = packed::reference::Product({weight_, bias_}, row);
    if (epilogue == Epilogue::kGelu) return packed::reference::Gelu(row);
    for (size_t n = 0; epilogue == Epilogue::kAdd && n < row.size(); ++n) row[n] += before[n];
    return row;
  }

 private:
  std::vector<float> weight_, bias_;
  PackedMatrix matrix_;
};

// The largest error of a product of `num_rows` random rows, of the size of its longest sum.
inline double ProductError(const TestLayer& layer, Epilogue epilogue, int64_t num_rows,
                           std::mt19937* random) {
  const int64_t in = layer.matrix().in(), out = layer.matrix().out();
  const int64_t x_stride = in + RandomInt(random, 0, 9);
  const std::vector<float> x = RandomNumbers(random, num_rows * x_stride, -1.0f, 1.0f);
  Rows y(num_rows, PaddedSize(out) + 16 * RandomInt(random, 0, 1));
  y.FillRandom(random, -1.0f, 1.0f);
  Rows before(num_rows, y.stride());
  std::copy_n(y.row(0), num_rows * y.stride(), before.row(0));
  layer.Run(epilogue, x.data(), x_stride, num_rows, 0, layer.matrix().num_panels(), &y);
  double error = 0.0;
  for (int64_t r = 0; r < num_rows; ++r) {
    const double scale = 1.0 + static_cast<double>(in) / 4.0;
    const packed::reference::Row expected =
        layer.Expected(epilogue, x.data() + r * x_stride, before.row(r));
    error = std::max(error, RelativeError(y.row(r), expected, scale));
  }
  return error;
}

}  // namespace lzero

#endif  // LZERO_TESTS_KERNELS_PRODUCT_PRODUCT_TESTING_H_
