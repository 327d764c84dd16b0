#include "lzero/nn/encoder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/encoder_rules.h"
#include "lzero/nn/convolution.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/nn/functional/perceptron.h"
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

// A convolution, residual blocks of two convolutions each, flatten, Linear to E: the last of them
// is left out where planes are wanted.
class ConvolutionEncoder : public Encoder {
 public:
  at::Tensor Forward(const at::Tensor& observations) const override {
    at::Tensor x = observations.reshape({-1, shape_[0], shape_[1], shape_[2]});
    x = at::relu(stem_->Forward(x));
    for (size_t i = 0; i < blocks_.size(); i += 2) {
      x = at::relu(ResidualSum(x, *blocks_[i], *blocks_[i + 1]));
    }
    x = x.flatten(1);
    return last_ != nullptr ? last_->Forward(x) : x;
  }
  const PlaneShape& planes() const { return planes_; }

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
  // The planes that the blocks give; `embed_dim` 0: they stay planes.
  void AddLast(int64_t height, int64_t width, int64_t embed_dim) {
    planes_ = {channels_, height, width};
    if (embed_dim == 0) return;
    last_ = register_module("last", std::make_shared<LinearLayer>(planes_.size(), embed_dim));
  }

 private:
  std::vector<int64_t> shape_;
  int64_t channels_;
  PlaneShape planes_;
  std::shared_ptr<ConvolutionLayer> stem_;
  std::vector<std::shared_ptr<ConvolutionLayer>> blocks_;  // two a block
  std::shared_ptr<LinearLayer> last_;
};

// At full size.
class BoardEncoder : public ConvolutionEncoder {
 public:
  BoardEncoder(const std::vector<int64_t>& shape, const ModelConfig& config, int64_t embed_dim)
      : ConvolutionEncoder(shape, config.encoder_channels) {
    AddStem(/*stride=*/1);
    for (int64_t i = 0; i < config.encoder_blocks; ++i) AddBlock(absl::StrCat("block", i), 1);
    AddLast(shape[1], shape[2], embed_dim);
  }
};

// The stem and one block after another halve the size until no side is more than 8 cells; blocks
// at that size follow. 64x64 ends at 8x8, 96x96 at 6x6.
class ImageEncoder : public ConvolutionEncoder {
 public:
  ImageEncoder(const std::vector<int64_t>& shape, const ModelConfig& config, int64_t embed_dim)
      : ConvolutionEncoder(shape, config.encoder_channels) {
    PlaneSize size = {shape[1], shape[2]};
    int64_t num_halvings = 0;
    for (const PlaneSize& halved : ImageEncoderSizes(shape[1], shape[2])) {
      if (num_halvings == 0) {
        AddStem(/*stride=*/2);
      } else {
        AddBlock(absl::StrCat("halving", num_halvings - 1), 2);
      }
      ++num_halvings;
      size = halved;
    }
    for (int64_t i = 0; i < config.encoder_blocks; ++i) AddBlock(absl::StrCat("block", i), 1);
    AddLast(size.height, size.width, embed_dim);
  }
};

int64_t VectorEncoderSize(const ModelConfig& config, int64_t observation_size) {
  int64_t size = 0;
  int64_t in = observation_size;
  for (int64_t i = 0; i < config.encoder_layers; ++i, in = config.encoder_width) {
    size += LinearLayer::Size(in, config.encoder_width) + 2 * config.encoder_width;
  }
  return size + LinearLayer::Size(in, config.embed_dim);
}

int64_t BoardEncoderSize(const ModelConfig& config, const std::vector<int64_t>& shape) {
  const int64_t channels = config.encoder_channels;
  return ConvolutionLayer::Size(shape[0], channels) +
         2 * config.encoder_blocks * ConvolutionLayer::Size(channels, channels) +
         LinearLayer::Size(channels * shape[1] * shape[2], config.embed_dim);
}

int64_t ImageEncoderSize(const ModelConfig& config, const std::vector<int64_t>& shape) {
  const int64_t channels = config.encoder_channels;
  const std::vector<PlaneSize> sizes = ImageEncoderSizes(shape[1], shape[2]);
  const auto num_halvings = static_cast<int64_t>(sizes.size());
  return ConvolutionLayer::Size(shape[0], channels) +
         2 * (num_halvings - 1 + config.encoder_blocks) *
             ConvolutionLayer::Size(channels, channels) +
         LinearLayer::Size(channels * sizes.back().height * sizes.back().width, config.embed_dim);
}

std::shared_ptr<ConvolutionEncoder> MakeConvolutions(const ModelConfig& config,
                                                     const std::vector<int64_t>& shape,
                                                     int64_t embed_dim) {
  if (config.encoder == EncoderKind::kBoard) {
    return std::make_shared<BoardEncoder>(shape, config, embed_dim);
  }
  return std::make_shared<ImageEncoder>(shape, config, embed_dim);
}

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

int64_t EncoderParameters(const ModelConfig& config, const std::vector<int64_t>& shape) {
  if (config.encoder == EncoderKind::kBoard) return BoardEncoderSize(config, shape);
  if (config.encoder == EncoderKind::kImage) return ImageEncoderSize(config, shape);
  int64_t observation_size = 1;
  for (const int64_t length : shape) observation_size *= length;
  return VectorEncoderSize(config, observation_size);
}

absl::StatusOr<std::shared_ptr<Encoder>> MakeEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  if (config.encoder != EncoderKind::kVector) {
    return MakeConvolutions(config, observation_shape, config.embed_dim);
  }
  int64_t size = 1;
  for (const int64_t length : observation_shape) size *= length;
  return std::make_shared<VectorEncoder>(size, config.encoder_width, config.encoder_layers,
                                         config.embed_dim);
}

absl::StatusOr<PlaneEncoder> MakePlaneEncoder(const ModelConfig& config,
                                              const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  LZ_CHECK(config.encoder != EncoderKind::kVector, "vectors have no planes");
  const auto encoder = MakeConvolutions(config, observation_shape, /*embed_dim=*/0);
  return PlaneEncoder{encoder, encoder->planes()};
}

}  // namespace lzero
