// Where packed networks take their weights from, by the names of the parameters of the network that
// learned them. One thread.
#ifndef LZERO_PACKED_WEIGHT_SOURCE_H_
#define LZERO_PACKED_WEIGHT_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/kernels/product/packed_matrix.h"

namespace lzero::packed {

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Before Get, once: waits until the numbers are written, brings them to the host.
  virtual absl::Status Prepare() const { return absl::OkStatus(); }
  // The numbers of a parameter of this shape, float32, contiguous, for as long as the source lives.
  virtual absl::Span<const float> Get(const std::string& name,
                                      absl::Span<const int64_t> shape) const = 0;

  LinearWeights Linear(const std::string& module, int64_t in, int64_t out) const {
    return {Get(module + ".weight", {out, in}), Get(module + ".bias", {out})};
  }
  NormWeights Norm(const std::string& module, int64_t size) const {
    return {Get(module + ".weight", {size}), Get(module + ".bias", {size})};
  }
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_WEIGHT_SOURCE_H_
