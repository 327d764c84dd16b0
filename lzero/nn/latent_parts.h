// The parts of a recurrent latent model [MuZero, Schrittwieser et al. 2020]: what steps a latent
// state by an action, and what reads it. Two kinds behind one interface: vectors and perceptrons,
// or planes and convolutions. Latents are [N, S] either way, planes flattened. All tensors float32;
// gradients flow to inputs and weights. Weights and pure forward functions; no thread rule beyond
// torch's own.
#ifndef LZERO_NN_LATENT_PARTS_H_
#define LZERO_NN_LATENT_PARTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"
#include "lzero/nn/encoder.h"
#include "lzero/nn/layers.h"
#include "torch/nn/module.h"

namespace lzero {

// The dynamics: the latents and a change that depends on latents and inputs.
class LatentStep : public torch::nn::Module {
 public:
  // latents [N, S], inputs [N, I] -> the next latents [N, S] before their final norm.
  virtual at::Tensor Forward(const at::Tensor& latents, const at::Tensor& inputs) const = 0;
};

struct PlaneShape {
  int64_t channels = 0, height = 0, width = 0;
  int64_t size() const { return channels * height * width; }
};

// Makes the parts of one model.
class LatentParts {
 public:
  // The config's encoder decides the kind: vectors, or planes for boards and images. Errors as
  // CheckEncoder.
  static absl::StatusOr<LatentParts> Create(const ModelConfig& config,
                                            const std::vector<int64_t>& observation_shape);

  int64_t latent_size() const { return is_plane_ ? planes_.size() : config_.embed_dim; }  // S
  // I: an input is a vector beside the latent's, or one plane more.
  int64_t input_size() const {
    return is_plane_ ? planes_.height * planes_.width : config_.embed_dim;
  }

  // observations [N, observation size] -> latents [N, S] before their final norm.
  std::shared_ptr<Encoder> MakeLatentEncoder() const;
  std::shared_ptr<LatentStep> MakeStep() const;
  // Heads: their last layers begin at zero.
  std::shared_ptr<LatentHead> MakeHead(int64_t out) const;
  // -> [N, shape.policy_size()], cell by cell where the config asks for it: the shape must tell
  // then where actions stand.
  std::shared_ptr<LatentHead> MakePolicyHead(const WorldModelShape& shape) const;
  // Fresh inputs, not yet a parameter: [num_actions, I], box [action_dim + 1, I], as
  // MakeActionTable. On boards, where actions are as many as cells, or one more, or as columns,
  // each begins as a plane that marks its own cell or column, as in MuZero (appendix E); the one
  // more, which passes, as zeros.
  at::Tensor MakeInputTable(int64_t num_actions, int64_t action_dim) const;

 private:
  LatentParts(const ModelConfig& config, const std::vector<int64_t>& observation_shape);
  bool is_board() const { return config_.encoder == EncoderKind::kBoard; }
  int64_t head_dim() const { return config_.head_units(); }

  ModelConfig config_;
  std::vector<int64_t> observation_shape_;
  bool is_plane_;
  PlaneShape planes_;
};

}  // namespace lzero

#endif  // LZERO_NN_LATENT_PARTS_H_
