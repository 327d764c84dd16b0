#include "lzero/packed/layer_chain.h"

#include <algorithm>

#include "lzero/base/check.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/product/matrix_product.h"

namespace lzero::packed {

int64_t ChainShape::Bytes() const {
  int64_t bytes = 0, columns = in;
  for (const ChainLayer& layer : layers) {
    bytes += PackedMatrix::Bytes(columns, layer.out, WeightType::kFp32);
    if (!layer.norm.empty()) bytes += 2 * layer.out * static_cast<int64_t>(sizeof(float));
    columns = layer.out;
  }
  return bytes;
}

int64_t ChainShape::ReorderedBytes() const {
  return in * layers.front().out * static_cast<int64_t>(sizeof(float));
}

int64_t ChainShape::Widest() const {
  int64_t widest = norm_in.empty() ? 0 : in;
  for (size_t i = 0; i + 1 < layers.size(); ++i) widest = std::max(widest, layers[i].out);
  return widest;
}

LayerChain::LayerChain(const ChainShape& shape) : shape_(shape) {
  LZ_CHECK(!shape.layers.empty(), "no layers");
  int64_t in = shape.in;
  for (const ChainLayer& layer : shape.layers) {
    const int64_t norm = layer.norm.empty() ? 0 : layer.out;
    layers_.push_back({PackedMatrix(in, layer.out, WeightType::kFp32), AlignedArray<float>(norm),
                       AlignedArray<float>(norm)});
    in = layer.out;
  }
}

void LayerChain::Load(const WeightSource& weights, const std::string& module) {
  LoadReordered(weights, module, {});
}

void LayerChain::LoadReordered(const WeightSource& weights, const std::string& module,
                               const std::vector<int64_t>& columns) {
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    const ChainLayer& names = shape_.layers[i];
    LinearWeights linear =
        weights.Linear(module + "." + names.linear, layer.matrix.in(), layer.matrix.out());
    if (i == 0 && !columns.empty()) {
      const size_t in = columns.size();
      reordered_.resize(linear.weight.size());
      for (size_t at = 0; at < reordered_.size(); ++at) {
        reordered_[at] = linear.weight[at - at % in + static_cast<size_t>(columns[at % in])];
      }
      linear.weight = reordered_;
    }
    if (i == 0 && !shape_.norm_in.empty()) {
      const NormWeights norm = weights.Norm(module + "." + shape_.norm_in, shape_.in);
      layer.matrix.Pack(linear, &norm);
    } else {
      layer.matrix.Pack(linear, nullptr);
    }
    if (names.norm.empty()) continue;
    const NormWeights norm = weights.Norm(module + "." + names.norm, names.out);
    std::copy(norm.weight.begin(), norm.weight.end(), layer.norm_weight.data());
    std::copy(norm.bias.begin(), norm.bias.end(), layer.norm_bias.data());
  }
}

void LayerChain::Run(const float* x, int64_t rows, float* y, float* scratch) const {
  float* const buffers[] = {scratch, scratch + rows * shape_.Widest()};
  int next = 0;
  if (!shape_.norm_in.empty()) {
    NormTask norm;
    norm.rows = rows;
    norm.size = norm.x_stride = norm.y_stride = in();
    norm.x = x;
    NormRows(norm, buffers[0]);
    x = buffers[0];
    next = 1;
  }
  for (const Layer& layer : layers_) {
    const PackedMatrix& matrix = layer.matrix;
    float* to = &layer == &layers_.back() ? y : buffers[next];
    next = 1 - next;
    MultiplyRows({x, matrix.in(), 1}, rows, matrix, matrix.bias(), nullptr, to, matrix.out());
    x = to;
    if (layer.norm_weight.size() == 0) continue;
    NormTask norm;
    norm.rows = rows;
    norm.size = norm.x_stride = norm.y_stride = matrix.out();
    norm.x = to;
    norm.weight = layer.norm_weight.data();
    norm.bias = layer.norm_bias.data();
    norm.gelu = true;
    NormRows(norm, to);
  }
}

}  // namespace lzero::packed
