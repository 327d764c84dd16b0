// What steps a latent state and what reads it, in packed form: vectors through layers, planes
// (channels last) through convolutions. fp32. No threads, no allocation while it runs. Belongs to
// one thread while it is loaded.
#ifndef LZERO_PACKED_LATENT_PARTS_H_
#define LZERO_PACKED_LATENT_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lzero/config/experiment_config.h"
#include "lzero/config/model/action_places.h"
#include "lzero/kernels/value_support.h"
#include "lzero/packed/layer_chain.h"
#include "lzero/packed/plane_tower.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

// What latents are: planes of encoder_channels, or vectors of embed_dim numbers.
struct LatentShape {
  std::optional<PlaneSizes> planes;  // of one sample
  int64_t size = 0;                  // numbers of a latent state, S
};

class LatentStep {
 public:
  // `num_inputs` rows of a table stand for actions or outcomes.
  LatentStep(const ModelConfig& config, const LatentShape& latents, int64_t num_inputs);
  // Bytes that such a step holds, and floats of scratch for so many rows.
  static int64_t Bytes(const ModelConfig& config, const LatentShape& latents, int64_t num_inputs);
  static int64_t ScratchSize(const ModelConfig& config, const LatentShape& latents, int64_t rows);

  // Weights of `module`, and the parameter `table` [rows, numbers of an input].
  void Load(const WeightSource& weights, const std::string& module, const std::string& table);

  // next [rows, S] before its final norm, of latents [rows, S].
  void Run(const float* latents, const TowerInputs& inputs, int64_t rows, float* next,
           float* scratch) const;

 private:
  int64_t size_, num_inputs_;
  std::optional<PlaneTower> tower_;
  std::optional<LayerChain> chain_;  // of latent and input
  std::vector<float> table_;         // [rows, S] of vectors
};

struct HeadPart {
  std::string module;
  int64_t out = 0;
  // Where its outputs are logits of atoms, of which the value is taken.
  std::optional<ValueSupport> support = {};
  // Where its outputs are logits of actions that stand there (ActionSpec), read cell by cell.
  std::vector<int32_t> places = {};
};

class LatentHead {
 public:
  LatentHead(const ModelConfig& config, const LatentShape& latents, const HeadPart& part);
  // Bytes that such a head holds, and floats of scratch for so many rows.
  static int64_t Bytes(const ModelConfig& config, const LatentShape& latents, const HeadPart& part);
  static int64_t ScratchSize(const ModelConfig& config, const LatentShape& latents,
                             const HeadPart& part, int64_t rows);

  void Load(const WeightSource& weights, const std::string& module);

  int64_t out() const { return out_; }
  // y [rows, out] of latents [rows, S].
  void Run(const float* latents, int64_t rows, float* y, float* scratch) const;

 private:
  void RunCells(const float* latents, int64_t rows, float* y, float* scratch) const;

  int64_t out_;
  int64_t cells_ = 0;  // of planes
  bool pools_ = false;
  CellLogits cell_logits_;             // with outputs 0 where cells are not read one by one
  std::optional<LayerChain> squeeze_;  // of planes: the channels of a cell to a few
  LayerChain chain_;
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_LATENT_PARTS_H_
