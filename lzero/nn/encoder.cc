#include "lzero/nn/encoder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/encoder_rules.h"
#include "lzero/nn/layers.h"
#include "lzero/nn/norm.h"
#include "lzero/nn/perceptron.h"
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
    if (hidden_.empty()) return last_->Forward(observations);
    at::Tensor x = observations;
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

// 3x3 convolution with stride 1 or 2 followed by a norm over all channels and cells of one sample
// (GroupNorm with one group): no statistics over the batch, so training and inference agree
// exactly.
class ConvolutionLayer : public torch::nn::Module {
 public:
  ConvolutionLayer(int64_t in, int64_t out, int64_t stride) : stride_(stride) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in * 9));
    weight_ = register_parameter("weight", torch::empty({out, in, 3, 3}).uniform_(-bound, bound));
    norm_weight_ = register_parameter("norm_weight", torch::ones({out}));
    norm_bias_ = register_parameter("norm_bias", torch::zeros({out}));
  }
  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor y = at::conv2d(x, weight_, {}, stride_, 1);
    return at::group_norm(y, 1, norm_weight_, norm_bias_);
  }
  int64_t stride() const { return stride_; }

 private:
  int64_t stride_;
  at::Tensor weight_, norm_weight_, norm_bias_;
};

using Convolution = std::shared_ptr<ConvolutionLayer>;

// relu(x + second(relu(first(x)))); where `first` halves the size, x is averaged over 2x2 cells.
at::Tensor Residual(const at::Tensor& x, const Convolution& first, const Convolution& second) {
  const at::Tensor change = second->Forward(at::relu(first->Forward(x)));
  if (first->stride() == 1) return at::relu(x + change);
  const at::Tensor halved = at::avg_pool2d(x, {2, 2}, {2, 2}, {0, 0}, /*ceil_mode=*/true);
  return at::relu(halved + change);
}

// A convolution, residual blocks of two convolutions each, flatten, Linear to E.
class ConvolutionEncoder : public Encoder {
 public:
  at::Tensor Forward(const at::Tensor& observations) const override {
    at::Tensor x = observations.reshape({-1, shape_[0], shape_[1], shape_[2]});
    x = at::relu(stem_->Forward(x));
    for (size_t i = 0; i < blocks_.size(); i += 2) x = Residual(x, blocks_[i], blocks_[i + 1]);
    return last_->Forward(x.flatten(1));
  }

 protected:
  ConvolutionEncoder(const std::vector<int64_t>& shape, int64_t channels)
      : shape_(shape), channels_(channels) {}
  void AddStem(int64_t stride) {
    stem_ =
        register_module("stem", std::make_shared<ConvolutionLayer>(shape_[0], channels_, stride));
  }
  void AddBlock(const std::string& name, int64_t stride) {
    for (const char* part : {"a", "b"}) {
      blocks_.push_back(register_module(
          absl::StrCat(name, part),
          std::make_shared<ConvolutionLayer>(channels_, channels_, part[0] == 'a' ? stride : 1)));
    }
  }
  void AddLast(int64_t height, int64_t width, int64_t embed_dim) {
    last_ = register_module("last",
                            std::make_shared<LinearLayer>(channels_ * height * width, embed_dim));
  }

 private:
  std::vector<int64_t> shape_;
  int64_t channels_;
  Convolution stem_;
  std::vector<Convolution> blocks_;  // two a block
  std::shared_ptr<LinearLayer> last_;
};

// At full size.
class BoardEncoder : public ConvolutionEncoder {
 public:
  BoardEncoder(const std::vector<int64_t>& shape, const ModelConfig& config)
      : ConvolutionEncoder(shape, config.encoder_channels) {
    AddStem(/*stride=*/1);
    for (int64_t i = 0; i < config.encoder_blocks; ++i) AddBlock(absl::StrCat("block", i), 1);
    AddLast(shape[1], shape[2], config.embed_dim);
  }
};

// The stem and one block after another halve the size until no side is more than 8 cells; blocks
// at that size follow. 64x64 ends at 8x8, 96x96 at 6x6.
class ImageEncoder : public ConvolutionEncoder {
 public:
  ImageEncoder(const std::vector<int64_t>& shape, const ModelConfig& config)
      : ConvolutionEncoder(shape, config.encoder_channels) {
    int64_t height = shape[1], width = shape[2];
    for (int64_t i = 0; std::max(height, width) > kImageCells; ++i) {
      if (i == 0) {
        AddStem(/*stride=*/2);
      } else {
        AddBlock(absl::StrCat("halving", i - 1), 2);
      }
      height = (height + 1) / 2;
      width = (width + 1) / 2;
    }
    for (int64_t i = 0; i < config.encoder_blocks; ++i) AddBlock(absl::StrCat("block", i), 1);
    AddLast(height, width, config.embed_dim);
  }
};

}  // namespace

at::Tensor NormalizeLatent(const at::Tensor& x, LatentNorm norm, int64_t sim_norm_group) {
  if (norm == LatentNorm::kLayerNorm) return Normalize(x);
  return at::softmax(x.unflatten(-1, {-1, sim_norm_group}), -1).flatten(-2);
}

absl::Status CheckEncoder(const ModelConfig& config,
                          const std::vector<int64_t>& observation_shape) {
  const auto misfit = FindEncoderMisfit(config.encoder, observation_shape);
  if (!misfit.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model.encoder: ", misfit->needs, "; this environment gives [",
                   absl::StrJoin(observation_shape, ", "), "]; use encoder: ", misfit->allowed));
}

absl::StatusOr<std::shared_ptr<Encoder>> MakeEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  if (config.encoder == EncoderKind::kBoard) {
    return std::make_shared<BoardEncoder>(observation_shape, config);
  }
  if (config.encoder == EncoderKind::kImage) {
    return std::make_shared<ImageEncoder>(observation_shape, config);
  }
  int64_t size = 1;
  for (const int64_t length : observation_shape) size *= length;
  return std::make_shared<VectorEncoder>(size, config.encoder_width, config.encoder_layers,
                                         config.embed_dim);
}

}  // namespace lzero
