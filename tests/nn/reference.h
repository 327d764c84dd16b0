// A slow second implementation of the layers and of the banded transformer: plain loops in double,
// written from the equations of the layers, sharing no line with lzero/nn. Tests compare the
// fast code against it. Weights come as a map of named arrays, so that a test can also move one
// weight and take a finite difference. Not for use outside tests; no thread rule.
#ifndef LZERO_TESTS_NN_REFERENCE_H_
#define LZERO_TESTS_NN_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lzero/tensor/torch.h"

namespace lzero::reference {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

struct Array {
  std::vector<int64_t> shape;
  Row values;
};
using Weights = std::map<std::string, Array>;

inline Row FlatValues(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous().flatten();
  const double* begin = flat.const_data_ptr<double>();
  return Row(begin, begin + flat.numel());
}

inline Rows RowsOf(const at::Tensor& matrix) {
  Rows rows;
  for (int64_t i = 0; i < matrix.size(0); ++i) rows.push_back(FlatValues(matrix[i]));
  return rows;
}

inline Weights WeightsOf(const torch::nn::Module& module) {
  Weights weights;
  for (const auto& item : module.named_parameters()) {
    weights[item.key()] = {item.value().sizes().vec(), FlatValues(item.value())};
  }
  return weights;
}

// Adds normal noise to every parameter, so that weights and biases of norms and zero-initialised
// layers matter.
inline void Scatter(torch::nn::Module& module, double standard_deviation, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& parameter : module.parameters()) {
    parameter.add_(torch::randn_like(parameter), standard_deviation);
  }
}

// Largest absolute difference of a tensor and a row-major reference, divided by the scale of the
// reference (at least 1).
inline double RelativeError(const at::Tensor& actual, const Row& expected) {
  const Row values = FlatValues(actual);
  if (values.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double error = 0.0;
  double scale = 1.0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(values[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return error / scale;
}

inline double RelativeError(const at::Tensor& actual, const Rows& expected) {
  Row flat;
  for (const Row& row : expected) flat.insert(flat.end(), row.begin(), row.end());
  return RelativeError(actual, flat);
}

inline Row Linear(const Weights& weights, const std::string& name, const Row& x) {
  const Array& w = weights.at(name + ".weight");
  Row y = weights.at(name + ".bias").values;
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) y[i] += w.values[i * x.size() + j] * x[j];
  }
  return y;
}

// (x - mean) / sqrt(variance + 1e-5), the biased variance.
inline Row Normalize(const Row& x) {
  const double size = static_cast<double>(x.size());
  double mean = 0.0;
  for (const double value : x) mean += value / size;
  double variance = 0.0;
  for (const double value : x) variance += (value - mean) * (value - mean) / size;
  Row y;
  for (const double value : x) y.push_back((value - mean) / std::sqrt(variance + 1e-5));
  return y;
}

inline Row LayerNorm(const Weights& weights, const std::string& name, const Row& x) {
  const Row& weight = weights.at(name + ".weight").values;
  const Row& bias = weights.at(name + ".bias").values;
  Row y = Normalize(x);
  for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] * weight[i] + bias[i];
  return y;
}

// x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) [Hendrycks and Gimpel 2016]
inline Row Gelu(Row x) {
  for (double& v : x) {
    v = 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v)));
  }
  return x;
}

inline Row Softmax(Row x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0.0;
  for (double& value : x) sum += (value = std::exp(value - top));
  for (double& value : x) value /= sum;
  return x;
}

// LN, Linear, LN, GELU, Linear.
inline Row Head(const Weights& weights, const std::string& name, const Row& x) {
  const Row hidden = Linear(weights, name + ".first", LayerNorm(weights, name + ".norm_in", x));
  return Linear(weights, name + ".last", Gelu(LayerNorm(weights, name + ".norm_hidden", hidden)));
}

// Channel pairs (2j, 2j + 1) of one head turned by position * 10000^(-2j / D). [RoPE eq. 34]
inline Row Turn(const Row& x, double position) {
  Row y(x.size());
  for (size_t j = 0; j + 1 < x.size(); j += 2) {
    const double angle =
        position * std::pow(10000.0, -static_cast<double>(j) / static_cast<double>(x.size()));
    y[j] = x[j] * std::cos(angle) - x[j + 1] * std::sin(angle);
    y[j + 1] = x[j] * std::sin(angle) + x[j + 1] * std::cos(angle);
  }
  return y;
}

struct TransformerShape {
  int64_t num_layers;
  int64_t num_heads;
  int64_t context_length;
};

inline Row Slice(const Row& x, size_t first, size_t count) {
  return Row(x.begin() + static_cast<int64_t>(first),
             x.begin() + static_cast<int64_t>(first + count));
}

// What head `head` of token `at` reads: the softmax-weighted values of itself and the W - 1 tokens
// before it; keys are turned by their distance, the query is not.
inline Row Attend(const Rows& qkv, size_t at, size_t head, size_t head_size, size_t embed_dim,
                  size_t context_length) {
  const size_t offset = head * head_size;
  const Row query = Slice(qkv[at], offset, head_size);
  const size_t first = at + 1 >= context_length ? at + 1 - context_length : 0;
  Row scores;
  for (size_t i = first; i <= at; ++i) {
    const double distance = static_cast<double>(at - i);
    const Row key = Turn(Slice(qkv[i], embed_dim + offset, head_size), -distance);
    double product = 0.0;
    for (size_t j = 0; j < head_size; ++j) product += query[j] * key[j];
    scores.push_back(product / std::sqrt(static_cast<double>(head_size)));
  }
  const Row shares = Softmax(scores);
  Row mixed(head_size, 0.0);
  for (size_t i = first; i <= at; ++i) {
    for (size_t j = 0; j < head_size; ++j) {
      mixed[j] += shares[i - first] * qkv[i][2 * embed_dim + offset + j];
    }
  }
  return mixed;
}

inline void AddTo(Row& x, const Row& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Tokens [T][E] of one sequence -> outputs [T][E]. `keys_values`, if given, receives [T] rows of
// [L, 2, E], keys before rotation.
inline Rows TransformerPass(const Weights& weights, const std::string& name,
                            const TransformerShape& shape, const Rows& tokens,
                            Rows* keys_values = nullptr) {
  Rows x = tokens;
  const size_t embed_dim = tokens.at(0).size();
  const size_t head_size = embed_dim / static_cast<size_t>(shape.num_heads);
  if (keys_values != nullptr) keys_values->assign(x.size(), {});
  for (int64_t layer = 0; layer < shape.num_layers; ++layer) {
    const std::string block = name + "block" + std::to_string(layer);
    Rows qkv;
    for (size_t t = 0; t < x.size(); ++t) {
      qkv.push_back(
          Linear(weights, block + ".qkv", LayerNorm(weights, block + ".norm_attention", x[t])));
      if (keys_values == nullptr) continue;
      (*keys_values)[t].insert((*keys_values)[t].end(),
                               qkv[t].begin() + static_cast<int64_t>(embed_dim), qkv[t].end());
    }
    for (size_t t = 0; t < x.size(); ++t) {
      Row mixed;
      for (size_t head = 0; head < static_cast<size_t>(shape.num_heads); ++head) {
        const Row part =
            Attend(qkv, t, head, head_size, embed_dim, static_cast<size_t>(shape.context_length));
        mixed.insert(mixed.end(), part.begin(), part.end());
      }
      AddTo(x[t], Linear(weights, block + ".projection", mixed));
      const Row hidden = Gelu(Linear(weights, block + ".expand",
                                     LayerNorm(weights, block + ".norm_feed_forward", x[t])));
      AddTo(x[t], Linear(weights, block + ".contract", hidden));
    }
  }
  return x;
}

}  // namespace lzero::reference

#endif  // LZERO_TESTS_NN_REFERENCE_H_
