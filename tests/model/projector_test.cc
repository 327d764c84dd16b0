// The later layers of a projector against plain loops.
#include "lzero/model/projector.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::projector_test {
namespace {

constexpr int64_t kRows = 6, kWidth = 4;

using Matrix = std::vector<std::vector<double>>;

Matrix NumbersOf(const at::Tensor& x) {
  Matrix rows(static_cast<size_t>(x.size(0)));
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) rows[i].push_back(x[i][j].item<double>());
  }
  return rows;
}

Matrix Transposed(const Matrix& x) {
  Matrix y(x[0].size(), std::vector<double>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x[i].size(); ++j) y[j][i] = x[i][j];
  }
  return y;
}

// Rows with mean 0 and variance 1.
Matrix Normalized(Matrix x) {
  for (std::vector<double>& row : x) {
    double mean = 0.0, variance = 0.0;
    for (const double v : row) mean += v / static_cast<double>(row.size());
    for (const double v : row)
      variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
    for (double& v : row) v = (v - mean) / std::sqrt(variance + 1e-5);
  }
  return x;
}

double Gelu(double x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(ProjectorTail, NormalisesRowsOrColumns) {
  for (const ProjectorNorm kind : {ProjectorNorm::kLayer, ProjectorNorm::kBatch}) {
    torch::manual_seed(3);
    const ProjectorTail tail(kWidth, /*num_layers=*/1, kind);
    const at::Tensor x = torch::randn({kRows, kWidth});
    const bool by_row = kind == ProjectorNorm::kLayer;
    const auto norm = [&](const Matrix& rows) {  // fresh weights are 1 and 0
      return by_row ? Normalized(rows) : Transposed(Normalized(Transposed(rows)));
    };
    const auto weights = tail.named_parameters();
    const Matrix weight = NumbersOf(weights["linear0.weight"]);
    Matrix hidden = norm(NumbersOf(x)), y(kRows, std::vector<double>(kWidth));
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t o = 0; o < kWidth; ++o) {
        y[i][o] = weights["linear0.bias"][o].item<double>();
        for (int64_t j = 0; j < kWidth; ++j) y[i][o] += weight[o][j] * Gelu(hidden[i][j]);
      }
    }
    y = norm(y);
    const Matrix got = NumbersOf(tail.Forward(x.view({2, 3, kWidth})).flatten(0, 1));
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t o = 0; o < kWidth; ++o) EXPECT_NEAR(got[i][o], y[i][o], 1e-4) << by_row;
    }
  }
}

}  // namespace
}  // namespace lzero::projector_test
