// The encoder of a network in packed form: vectors through layers, boards and images through a
// tower of convolutions, which ends in planes or in one vector. fp32. No threads, no allocation
// while it runs. Belongs to one thread while it is loaded.
#ifndef LZERO_PACKED_OBSERVATION_ENCODER_H_
#define LZERO_PACKED_OBSERVATION_ENCODER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lzero/config/experiment_config.h"
#include "lzero/packed/layer_chain.h"
#include "lzero/packed/observation_norm.h"
#include "lzero/packed/plane_tower.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

// Numbers of one observation.
int64_t ObservationSize(const std::vector<int64_t>& observation_shape);
// The tower of an encoder of boards or images for observations [channels, height, width].
TowerShape EncoderTower(const ModelConfig& config, const std::vector<int64_t>& observation_shape);
// The planes that such an encoder ends in, for one observation that fits it.
PlaneSizes EncodedPlanes(const ModelConfig& config, const std::vector<int64_t>& observation_shape);

class ObservationEncoder {
 public:
  // The caller must give an encoder that fits the observations. With `ends_in_planes` one of boards
  // or images leaves its last layer out: its outputs are planes, channels last.
  ObservationEncoder(const ModelConfig& config, const std::vector<int64_t>& observation_shape,
                     bool ends_in_planes);
  // Bytes that such an encoder holds, and floats of scratch for so many rows.
  static int64_t Bytes(const ModelConfig& config, const std::vector<int64_t>& observation_shape,
                       bool ends_in_planes);
  static int64_t ScratchSize(const ModelConfig& config,
                             const std::vector<int64_t>& observation_shape, bool ends_in_planes,
                             int64_t rows);

  void Load(const WeightSource& weights, const std::string& module);

  int64_t out_size() const { return out_size_; }
  // y [rows, out size], before the final norm of latents, of observations [rows, observation size],
  // whose axes are those of the environment.
  void Run(const float* observations, int64_t rows, float* y, float* scratch) const;

 private:
  int64_t observation_size_ = 0, out_size_ = 0;
  ObservationNorm norm_;
  std::optional<PlaneTower> tower_;
  std::optional<LayerChain> chain_;  // all of a vector's; the last layer behind a tower
  std::vector<int64_t> columns_;     // of the last layer behind a tower, in the order of its inputs
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_OBSERVATION_ENCODER_H_
