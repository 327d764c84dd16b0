// Parts of networks by plain loops in double precision, over weights that are drawn by name: what
// the packed parts are held to.
#ifndef LZERO_TESTS_PACKED_PLAIN_NETWORK_H_
#define LZERO_TESTS_PACKED_PLAIN_NETWORK_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/packed/weight_source.h"
#include "tests/kernels/convolution/plain_convolution.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::packed {

using Numbers = std::vector<double>;

// Random weights, each drawn when it is declared.
class DrawnWeights : public WeightSource {
 public:
  void Draw(const std::string& name, int64_t size, float low = -0.7f, float high = 0.7f) {
    weights_[name] = RandomNumbers(&random_, size, low, high);
  }
  void DrawLinear(const std::string& module, int64_t in, int64_t out) {
    Draw(module + ".weight", in * out);
    Draw(module + ".bias", out);
  }
  void DrawNorm(const std::string& module, int64_t size) {
    Draw(module + ".weight", size);
    Draw(module + ".bias", size);
  }
  void DrawConvolution(const std::string& module, int64_t in, int64_t out) {
    Draw(module + ".weight", out * in * 9);
    Draw(module + ".norm_weight", out);
    Draw(module + ".norm_bias", out);
  }
  absl::Span<const float> Get(const std::string& name) const { return weights_.at(name); }
  absl::Span<const float> Get(const std::string& name,
                              absl::Span<const int64_t> shape) const override {
    int64_t size = 1;
    for (const int64_t length : shape) size *= length;
    EXPECT_EQ(static_cast<int64_t>(Get(name).size()), size) << name;
    return Get(name);
  }

 private:
  std::mt19937 random_{5};
  std::map<std::string, std::vector<float>> weights_;
};

inline Numbers Widened(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Rows [rows, in] -> [rows, out].
inline Numbers PlainLinear(const DrawnWeights& weights, const std::string& module, const Numbers& x,
                           size_t in) {
  const auto weight = weights.Get(module + ".weight"), bias = weights.Get(module + ".bias");
  Numbers y;
  for (size_t row = 0; row < x.size() / in; ++row) {
    for (size_t o = 0; o < bias.size(); ++o) {
      double sum = bias[o];
      for (size_t i = 0; i < in; ++i) sum += x[row * in + i] * weight[o * in + i];
      y.push_back(sum);
    }
  }
  return y;
}

// Each `size` neighbours: mean 0, variance 1.
inline Numbers PlainNormalize(Numbers x, size_t size) {
  for (size_t at = 0; at < x.size(); at += size) {
    double mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < size; ++i) mean += x[at + i] / static_cast<double>(size);
    for (size_t i = 0; i < size; ++i) {
      variance += (x[at + i] - mean) * (x[at + i] - mean) / static_cast<double>(size);
    }
    for (size_t i = 0; i < size; ++i) x[at + i] = (x[at + i] - mean) / std::sqrt(variance + 1e-5);
  }
  return x;
}

// LayerNorm, and GELU if asked for.
inline Numbers PlainNorm(const DrawnWeights& weights, const std::string& module, const Numbers& x,
                         bool gelu) {
  const auto weight = weights.Get(module + ".weight"), bias = weights.Get(module + ".bias");
  Numbers y = PlainNormalize(x, weight.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const double z = y[i] * weight[i % weight.size()] + bias[i % weight.size()];
    const double u = std::sqrt(2.0 / M_PI) * (z + 0.044715 * z * z * z);
    y[i] = gelu ? 0.5 * z * (1.0 + std::tanh(u)) : z;
  }
  return y;
}

// norm(convolution(x)) + addend, ReLU if asked for; planes with channels last.
inline Numbers PlainLayer(const DrawnWeights& weights, const std::string& module,
                          const ConvolutionShape& shape, const PlaneSizes& planes, const Numbers& x,
                          const Numbers& addend, bool relu) {
  const auto weight = weights.Get(module + ".weight");
  const auto scale = weights.Get(module + ".norm_weight"),
             bias = weights.Get(module + ".norm_bias");
  Numbers units(static_cast<size_t>(shape.OutputOf(planes).cells() * shape.out));
  ForEachProduct(shape, planes,
                 [&](size_t from, size_t k, size_t to) { units[to] += x[from] * weight[k]; });
  Numbers y = PlainNormalize(units, units.size() / static_cast<size_t>(planes.samples));
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = y[i] * scale[i % scale.size()] + bias[i % scale.size()];
    if (!addend.empty()) y[i] += addend[i];
    if (relu) y[i] = std::max(0.0, y[i]);
  }
  return y;
}

}  // namespace lzero::packed

#endif  // LZERO_TESTS_PACKED_PLAIN_NETWORK_H_
