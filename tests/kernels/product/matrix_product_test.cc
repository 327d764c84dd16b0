// Products against loops in double, for every remainder of rows, columns and depth.
#include "lzero/kernels/product/matrix_product.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/product/product_kernels.h"

namespace lzero::matrix_product_test {
namespace {

std::vector<float> Random(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

struct Case {
  ProductSize size;
  bool transpose_a = false, transpose_b = false, with_bias = false, with_addend = false;
};

MatrixView View(const std::vector<float>& values, int64_t rows, int64_t columns, bool transposed) {
  if (transposed) return MatrixView{values.data(), rows, 1}.Transposed();
  return {values.data(), columns, 1};
}

std::vector<float> Multiply(const Case& each, unsigned seed, double* error) {
  std::mt19937 random(seed);
  const auto [rows, columns, depth] = each.size;
  const std::vector<float> a = Random(rows * depth, random), b = Random(depth * columns, random);
  const std::vector<float> bias = Random(columns, random), addend = Random(rows * columns, random);
  const MatrixView left = View(a, rows, depth, each.transpose_a);
  const MatrixView right = View(b, depth, columns, each.transpose_b);
  std::vector<float> out(static_cast<size_t>(rows * columns), NAN);
  MultiplyMatrices(each.size, left, right, each.with_bias ? bias.data() : nullptr,
                   each.with_addend ? addend.data() : nullptr, out.data());
  *error = 0.0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum =
          (each.with_bias ? bias[j] : 0.0) + (each.with_addend ? addend[i * columns + j] : 0.0);
      for (int64_t k = 0; k < depth; ++k) {
        sum += static_cast<double>(left.values[i * left.row_stride + k * left.column_stride]) *
               right.values[k * right.row_stride + j * right.column_stride];
      }
      const double apart = std::abs(sum - out[i * columns + j]);
      *error = std::isnan(apart) ? INFINITY : std::max(*error, apart);
    }
  }
  *error /= std::sqrt(static_cast<double>(depth));
  return out;
}

TEST(MatrixProductTest, EveryRemainderOfRowsAndColumns) {
  for (int64_t rows = 1; rows <= 26; ++rows) {
    for (int64_t columns = 1; columns <= 67; columns += columns < 34 ? 1 : 11) {
      double error = 0.0;
      Multiply(
          {{rows, columns, 5}, rows % 2 == 0, columns % 2 == 0, rows % 3 == 0, columns % 3 == 0}, 1,
          &error);
      ASSERT_LT(error, 2e-6) << rows << " x " << columns;
    }
  }
}

TEST(MatrixProductTest, RandomShapesInEveryLayout) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const auto size = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    const Case each = {{size(200), size(150), size(700)},
                       random() % 2 == 0,
                       random() % 2 == 0,
                       random() % 2 == 0,
                       random() % 2 == 0};
    double error = 0.0;
    Multiply(each, random(), &error);
    ASSERT_LT(error, 4e-6) << each.size.rows << " x " << each.size.columns << " x "
                           << each.size.depth;
  }
}

TEST(MatrixProductTest, MoreColumnsThanOnePart) {
  for (const bool transposed : {false, true}) {
    double error = 0.0;
    Multiply({{30, 1100, 300}, false, transposed, true, false}, 3, &error);
    EXPECT_LT(error, 4e-6);
  }
}

TEST(MatrixProductTest, TheNumberOfThreadsChangesNothing) {
  const int before = KernelThreads();
  const Case each = {{509, 77, 600}, true, false, true, false};
  double error = 0.0;
  SetKernelThreads(1);
  const std::vector<float> one = Multiply(each, 5, &error);
  for (const int threads : {2, 3}) {
    SetKernelThreads(threads);
    EXPECT_EQ(Multiply(each, 5, &error), one) << threads << " threads";
  }
  SetKernelThreads(before);
}

TEST(MatrixProductTest, APackedMatrixIsUsedAgainAndPackedAgain) {
  std::mt19937 random(9);
  PackedMatrix packed;
  for (const int64_t depth : {300, 7}) {
    const std::vector<float> a = Random(20 * depth, random), b = Random(depth * 50, random);
    packed.Pack({b.data(), 50, 1}, depth, 50);
    EXPECT_EQ(packed.in(), depth);
    EXPECT_EQ(packed.out(), 50);
    std::vector<float> whole(20 * 50), parts(20 * 60, -1.0f);
    MultiplyMatrices({20, 50, depth}, {a.data(), depth, 1}, {b.data(), 50, 1}, nullptr, nullptr,
                     whole.data());
    for (const int64_t row : {0, 13}) {  // rows 60 apart
      MultiplyRows({a.data() + row * depth, depth, 1}, row == 0 ? 13 : 7, packed, nullptr, nullptr,
                   parts.data() + row * 60, 60);
    }
    for (int64_t i = 0; i < 20; ++i) {
      for (int64_t j = 0; j < 60; ++j) {
        ASSERT_EQ(parts[i * 60 + j], j < 50 ? whole[i * 50 + j] : -1.0f);
      }
    }
  }
}

TEST(MatrixProductTest, SumsOfColumnsAreAdded) {
  for (const int64_t rows : {1, 4, 6, 11}) {
    const std::vector<float> ones(static_cast<size_t>(rows * 37), 1.0f);
    std::vector<float> sums(37, 2.0f);
    AddColumnSums(ones.data(), rows, 37, sums.data());
    EXPECT_EQ(sums, std::vector<float>(37, static_cast<float>(rows) + 2.0f));
  }
}

}  // namespace
}  // namespace lzero::matrix_product_test
