// Observations by their running statistics (model.normalize_observations) on packed weights: what
// nn/observation_norm.h learns. fp32. No threads, no allocation while it runs. Belongs to one
// thread while it is loaded.
#ifndef LZERO_PACKED_OBSERVATION_NORM_H_
#define LZERO_PACKED_OBSERVATION_NORM_H_

#include <cstdint>
#include <string>

#include "lzero/config/model/model_config.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

// Added to variances, so that what hardly ever changes is not blown up.
inline constexpr double kVarianceFloor = 1e-4;
// Scaled numbers are held inside this.
inline constexpr double kLargestNormed = 10.0;

class ObservationNorm {
 public:
  // Off, or the identity until it is loaded.
  ObservationNorm(const ModelConfig& config, int64_t observation_size);
  static int64_t Bytes(const ModelConfig& config, int64_t observation_size);

  bool is_on() const { return mean_.size() > 0; }
  // Weights of "`module`.mean" and so on; reads none where it is off.
  void Load(const WeightSource& weights, const std::string& module);
  // y [rows, size] of x, which may be y. The caller must have it on.
  void Run(const float* x, int64_t rows, float* y) const;

 private:
  bool scales_;
  AlignedArray<float> mean_, factors_;  // [size], or nothing
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_OBSERVATION_NORM_H_
