// Linear layers one after the other over rows, each with or without a LayerNorm and GELU behind it:
// what encoders of vectors, heads and steps of vectors are. fp32. No threads, no allocation while
// it runs. Belongs to one thread while it is loaded.
#ifndef LZERO_PACKED_LAYER_CHAIN_H_
#define LZERO_PACKED_LAYER_CHAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/product/packed_matrix.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

struct ChainLayer {
  std::string linear;  // names of its parts in the module
  int64_t out = 0;
  std::string norm = "";  // empty: neither LayerNorm nor GELU
};

struct ChainShape {
  int64_t in = 0;
  std::vector<ChainLayer> layers;  // one at least
  std::string norm_in = "";        // names a LayerNorm before the first layer; empty: none

  // Bytes that such a chain holds, and those that it holds besides once it was loaded reordered.
  int64_t Bytes() const;
  int64_t ReorderedBytes() const;
  // Floats of scratch for so many rows.
  int64_t ScratchSize(int64_t rows) const { return 2 * rows * Widest(); }
  // Numbers of the longest row between input and output.
  int64_t Widest() const;
};

class LayerChain {
 public:
  // Zeros.
  explicit LayerChain(const ChainShape& shape);
  // Weights of "`module`.`linear`.weight" and so on, in place.
  void Load(const WeightSource& weights, const std::string& module);
  // With the columns of the first layer in another order: column i is that of `columns`[i].
  void LoadReordered(const WeightSource& weights, const std::string& module,
                     const std::vector<int64_t>& columns);

  int64_t in() const { return layers_.front().matrix.in(); }
  int64_t out() const { return layers_.back().matrix.out(); }
  // y [rows, out] of x [rows, in], both contiguous.
  void Run(const float* x, int64_t rows, float* y, float* scratch) const;

 private:
  struct Layer {
    PackedMatrix matrix;
    AlignedArray<float> norm_weight, norm_bias;  // [out], or nothing
  };

  ChainShape shape_;
  std::vector<Layer> layers_;
  std::vector<float> reordered_;
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_LAYER_CHAIN_H_
