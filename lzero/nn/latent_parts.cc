#include "lzero/nn/latent_parts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/model/action_places.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/nn/action_table.h"
#include "lzero/nn/convolution.h"
#include "lzero/nn/functional/perceptron.h"
#include "lzero/nn/layers.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// What stands for an action in its plane.
constexpr double kMarkedCell = 2.0;

class VectorStep : public LatentStep {
 public:
  VectorStep(int64_t embed_dim, int64_t width)
      : first_(register_module("first", std::make_shared<LinearLayer>(2 * embed_dim, width))),
        norm_(register_module("norm", std::make_shared<LayerNormLayer>(width))),
        last_(register_module("last", std::make_shared<LinearLayer>(width, embed_dim))) {}
  at::Tensor Forward(const at::Tensor& latents, const at::Tensor& inputs) const override {
    const PerceptronWeights weights = {
        {},         {}, first_->weight, first_->bias, norm_->weight, norm_->bias, last_->weight,
        last_->bias};
    return latents + Perceptron(at::cat({latents, inputs}, -1), weights, /*residual=*/false);
  }

 private:
  std::shared_ptr<LinearLayer> first_;
  std::shared_ptr<LayerNormLayer> norm_;
  std::shared_ptr<LinearLayer> last_;
};

class VectorHead : public LatentHead {
 public:
  VectorHead(int64_t embed_dim, int64_t width, int64_t out)
      : head_(register_module("head", std::make_shared<Head>(embed_dim, width, out))) {
    head_->last().InitZero();
  }
  at::Tensor Forward(const at::Tensor& latents) const override { return head_->Forward(latents); }

 private:
  std::shared_ptr<Head> head_;
};

// The input is a plane more; a convolution brings it back to the latent's planes, residual blocks
// follow.
class PlaneStep : public LatentStep {
 public:
  PlaneStep(const PlaneShape& planes, int64_t num_blocks) : planes_(planes) {
    const int64_t channels = planes.channels;
    stem_ = register_module("stem", std::make_shared<ConvolutionLayer>(channels + 1, channels, 1));
    for (int64_t i = 0; i < 2 * num_blocks; ++i) {
      blocks_.push_back(register_module(absl::StrCat("block", i / 2, i % 2 == 0 ? "a" : "b"),
                                        std::make_shared<ConvolutionLayer>(channels, channels, 1)));
    }
  }
  at::Tensor Forward(const at::Tensor& latents, const at::Tensor& inputs) const override {
    const at::Tensor before = latents.view({-1, planes_.channels, planes_.height, planes_.width});
    const at::Tensor plane = inputs.view({-1, 1, planes_.height, planes_.width});
    at::Tensor x = stem_->Forward(at::cat({before, plane}, 1), !blocks_.empty(), before);
    for (size_t i = 0; i < blocks_.size(); i += 2) {
      x = ResidualSum(x, *blocks_[i], *blocks_[i + 1], /*relu=*/i + 2 < blocks_.size());
    }
    return x.flatten(1);
  }

 private:
  PlaneShape planes_;
  std::shared_ptr<ConvolutionLayer> stem_;
  std::vector<std::shared_ptr<ConvolutionLayer>> blocks_;
};

// A few planes of the latent, then one layer over all of their cells; with pooling, over the
// largest and the mean number of each plane, too. [Wu 2019, section 3.3]
class PlaneHead : public LatentHead {
 public:
  PlaneHead(const PlaneShape& planes, bool pools, int64_t width, int64_t out)
      : planes_(planes), pools_(pools) {
    const int64_t cells = planes.height * planes.width + (pools ? 2 : 0);
    squeeze_ =
        register_module("squeeze", std::make_shared<LinearLayer>(planes.channels, kHeadChannels));
    first_ = register_module("first", std::make_shared<LinearLayer>(kHeadChannels * cells, width));
    norm_ = register_module("norm", std::make_shared<LayerNormLayer>(width));
    last_ = register_module("last", std::make_shared<LinearLayer>(width, out));
    last_->InitZero();
  }
  at::Tensor Forward(const at::Tensor& latents) const override {
    const at::Tensor cells =
        latents.view({-1, planes_.channels, planes_.height * planes_.width}).transpose(1, 2);
    const at::Tensor few = at::relu(squeeze_->Forward(cells.contiguous()));
    const at::Tensor x =
        pools_ ? at::cat({few.flatten(1), few.amax(1), few.mean(1)}, 1) : few.flatten(1);
    return last_->Forward(norm_->ForwardGelu(first_->Forward(x)));
  }

 private:
  PlaneShape planes_;
  bool pools_;
  std::shared_ptr<LinearLayer> squeeze_, first_, last_;
  std::shared_ptr<LayerNormLayer> norm_;
};

// Every cell through the same layers. [AlphaZero, Silver et al. 2017]
class CellHead : public LatentHead {
 public:
  CellHead(const PlaneShape& planes, const std::vector<int32_t>& places, int64_t width)
      : planes_(planes) {
    const CellLogits logits = CellLogitsOf(places, planes.height * planes.width);
    first_ = register_module("first", std::make_shared<LinearLayer>(planes.channels, width));
    norm_ = register_module("norm", std::make_shared<LayerNormLayer>(width));
    last_ = register_module("last", std::make_shared<LinearLayer>(width, logits.outputs));
    last_->InitZero();
    sources_ = register_buffer("sources", at::tensor(logits.sources));
  }
  at::Tensor Forward(const at::Tensor& latents) const override {
    const at::Tensor cells =
        latents.view({-1, planes_.channels, planes_.height * planes_.width}).transpose(1, 2);
    const at::Tensor said = last_->Forward(norm_->ForwardGelu(first_->Forward(cells.contiguous())));
    const at::Tensor mean = said.select(2, -1).mean(1, /*keepdim=*/true);
    return at::cat({said.flatten(1), mean}, 1).index_select(1, sources_);
  }

 private:
  PlaneShape planes_;
  std::shared_ptr<LinearLayer> first_, last_;
  std::shared_ptr<LayerNormLayer> norm_;
  at::Tensor sources_;  // [num_actions] int64; a buffer, so that it moves with the weights
};

// What the encoder of boards or images makes of such observations, without making it.
PlaneShape PlanesOf(const ModelConfig& config, const std::vector<int64_t>& shape) {
  PlaneShape planes = {config.encoder_channels, shape[1], shape[2]};
  if (config.encoder == EncoderKind::kBoard) return planes;
  const PlaneSize last = ImageEncoderSizes(shape[1], shape[2]).back();
  planes.height = last.height;
  planes.width = last.width;
  return planes;
}

}  // namespace

absl::StatusOr<LatentParts> LatentParts::Create(const ModelConfig& config,
                                                const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  return LatentParts(config, observation_shape);
}

LatentParts::LatentParts(const ModelConfig& config, const std::vector<int64_t>& observation_shape)
    : config_(config),
      observation_shape_(observation_shape),
      is_plane_(config.encoder != EncoderKind::kVector) {
  if (is_plane_) planes_ = PlanesOf(config, observation_shape);
}

std::shared_ptr<Encoder> LatentParts::MakeLatentEncoder() const {
  if (!is_plane_) return MakeEncoder(config_, observation_shape_).value();
  return MakePlaneEncoder(config_, observation_shape_).value();
}

std::shared_ptr<LatentStep> LatentParts::MakeStep() const {
  if (!is_plane_) return std::make_shared<VectorStep>(config_.embed_dim, head_dim());
  return std::make_shared<PlaneStep>(planes_, config_.encoder_blocks);
}

std::shared_ptr<LatentHead> LatentParts::MakeHead(int64_t out) const {
  if (!is_plane_) return std::make_shared<VectorHead>(config_.embed_dim, head_dim(), out);
  return std::make_shared<PlaneHead>(planes_, config_.head_pooling, head_dim(), out);
}

std::shared_ptr<LatentHead> LatentParts::MakePolicyHead(const WorldModelShape& shape) const {
  if (!config_.policy_cells) return MakeHead(shape.policy_size());
  return std::make_shared<CellHead>(planes_, shape.action_places, head_dim());
}

at::Tensor LatentParts::MakeInputTable(int64_t num_actions, int64_t action_dim) const {
  const at::Tensor table = MakeActionTable(num_actions, action_dim, input_size(), kInputDeviation);
  const int64_t cells = planes_.height * planes_.width;
  const bool are_cells = num_actions == cells || num_actions == cells + 1;
  if (!is_board() || action_dim > 0 || !(are_cells || num_actions == planes_.width)) return table;
  table.zero_();
  const at::Tensor squares = table.view({-1, planes_.height, planes_.width});
  for (int64_t i = 0; i < std::min(num_actions, cells); ++i) {
    if (are_cells) {
      table[i][i].fill_(kMarkedCell);
    } else {
      squares[i].select(1, i).fill_(kMarkedCell);
    }
  }
  return table;
}

}  // namespace lzero
