// Where packed networks take their weights from, by the names of the parameters of the network that
// learned them. Any thread.
#ifndef LZERO_PACKED_WEIGHT_SOURCE_H_
#define LZERO_PACKED_WEIGHT_SOURCE_H_

#include <string>

#include "absl/types/span.h"
#include "lzero/kernels/product/packed_matrix.h"

namespace lzero::packed {

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // The numbers of a parameter, float32, contiguous, for as long as the source lives. The caller
  // must give a name that there is.
  virtual absl::Span<const float> Get(const std::string& name) const = 0;

  LinearWeights Linear(const std::string& module) const {
    return {Get(module + ".weight"), Get(module + ".bias")};
  }
  NormWeights Norm(const std::string& module) const {
    return {Get(module + ".weight"), Get(module + ".bias")};
  }
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_WEIGHT_SOURCE_H_
