#include "lzero/nn/encoder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/nn/convolution.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/nn/functional/perceptron.h"
#include "lzero/nn/functional/planes.h"
#include "lzero/nn/layers.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// MLP: Linear, LayerNorm, GELU for each hidden layer, then Linear to E.
class VectorEncoder : public Encoder {
 public:
  VectorEncoder(int64_t in, int64_t width, int64_t num_hidden, int64_t embed_dim) {
    for (int64_t i = 0; i < num_hidden; ++i) {
      hidden_.push_back(register_module(absl::StrCat("hidden", i),
                                        std::make_shared<LinearLayer>(i == 0 ? in : width, width)));
      norms_.push_back(
          register_module(absl::StrCat("norm", i), std::make_shared<LayerNormLayer>(width)));
    }
    last_ = register_module("last",
                            std::make_shared<LinearLayer>(num_hidden == 0 ? in : width, embed_dim));
  }

  at::Tensor Forward(const at::Tensor& observations) const override {
    at::Tensor x = observations;
    if (x.scalar_type() == at::kByte)
      x = PlanesOfBytes(x.reshape({-1, 1, 1, x.size(-1)})).view(x.sizes());
    if (hidden_.empty()) return last_->Forward(x);
    const size_t last_hidden = hidden_.size() - 1;
    for (size_t i = 0; i < last_hidden; ++i) {
      x = norms_[i]->ForwardGelu(hidden_[i]->Forward(x));
    }
    const LinearLayer& layer = *hidden_[last_hidden];
    const LayerNormLayer& norm = *norms_[last_hidden];
    return Perceptron(
        x, {{}, {}, layer.weight, layer.bias, norm.weight, norm.bias, last_->weight, last_->bias},
        /*residual=*/false);
  }

 private:
  std::vector<std::shared_ptr<LinearLayer>> hidden_;
  std::vector<std::shared_ptr<LayerNormLayer>> norms_;
  std::shared_ptr<LinearLayer> last_;
};

// A convolution, residual blocks of two convolutions each, flatten, Linear to E; `embed_dim` 0
// leaves the last of them out, where planes are wanted. Boards keep their size. For images the stem
// and one block after another halve the size until no side is more than 8 cells; blocks at that
// size follow: 64x64 ends at 8x8, 96x96 at 6x6.
class ConvolutionEncoder : public Encoder {
 public:
  ConvolutionEncoder(const std::vector<int64_t>& shape, const ModelConfig& config,
                     int64_t embed_dim)
      : shape_(shape), channels_(config.encoder_channels) {
    std::vector<PlaneSize> sizes = {{shape[1], shape[2]}};
    const bool halves = config.encoder == EncoderKind::kImage;
    if (halves) sizes = ImageEncoderSizes(shape[1], shape[2]);
    stem_ = register_module(
        "stem", std::make_shared<ConvolutionLayer>(shape[0], channels_, halves ? 2 : 1));
    for (size_t i = 1; i < sizes.size(); ++i) AddBlock(absl::StrCat("halving", i - 1), 2);
    for (int64_t i = 0; i < config.encoder_blocks; ++i) AddBlock(absl::StrCat("block", i), 1);
    if (embed_dim == 0) return;
    const int64_t size = channels_ * sizes.back().height * sizes.back().width;
    last_ = register_module("last", std::make_shared<LinearLayer>(size, embed_dim));
  }

  at::Tensor Forward(const at::Tensor& observations) const override {
    at::Tensor x = observations.reshape({-1, shape_[0], shape_[1], shape_[2]});
    if (x.scalar_type() == at::kByte) x = PlanesOfBytes(x);
    x = stem_->Forward(x, /*relu=*/true);
    for (size_t i = 0; i < blocks_.size(); i += 2) {
      x = ResidualSum(x, *blocks_[i], *blocks_[i + 1], /*relu=*/true);
    }
    x = x.flatten(1);
    return last_ != nullptr ? last_->Forward(x) : x;
  }

 private:
  void AddBlock(const std::string& name, int64_t stride) {
    for (const char* part : {"a", "b"}) {
      blocks_.push_back(register_module(
          absl::StrCat(name, part),
          std::make_shared<ConvolutionLayer>(channels_, channels_, part[0] == 'a' ? stride : 1)));
    }
  }

  std::vector<int64_t> shape_;
  int64_t channels_;
  std::shared_ptr<ConvolutionLayer> stem_;
  std::vector<std::shared_ptr<ConvolutionLayer>> blocks_;  // two a block
  std::shared_ptr<LinearLayer> last_;
};

}  // namespace

at::Tensor NormalizeLatent(const at::Tensor& x, LatentNorm norm, int64_t sim_norm_group) {
  if (norm == LatentNorm::kLayerNorm) return Normalize(x);
  return at::softmax(x.unflatten(-1, {-1, sim_norm_group}), -1).flatten(-2);
}

absl::StatusOr<std::shared_ptr<Encoder>> MakeEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  if (config.encoder != EncoderKind::kVector) {
    return std::make_shared<ConvolutionEncoder>(observation_shape, config, config.embed_dim);
  }
  int64_t size = 1;
  for (const int64_t length : observation_shape) size *= length;
  return std::make_shared<VectorEncoder>(size, config.encoder_width, config.encoder_layers,
                                         config.embed_dim);
}

absl::StatusOr<std::shared_ptr<Encoder>> MakePlaneEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  LZ_CHECK(config.encoder != EncoderKind::kVector, "vectors have no planes");
  return std::make_shared<ConvolutionEncoder>(observation_shape, config, /*embed_dim=*/0);
}

}  // namespace lzero
