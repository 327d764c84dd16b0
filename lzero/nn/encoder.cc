#include "lzero/nn/encoder.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
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
    for (size_t i = 0; i < hidden_.size(); ++i) {
      x = at::gelu(norms_[i]->Forward(hidden_[i]->Forward(x)), "tanh");
    }
    return last_->Forward(x);
  }

 private:
  std::vector<std::shared_ptr<LinearLayer>> hidden_;
  std::vector<std::shared_ptr<LayerNormLayer>> norms_;
  std::shared_ptr<LinearLayer> last_;
};

// 3x3 convolution followed by a norm over all channels and cells of one sample (GroupNorm with one
// group): no statistics over the batch, so training and inference agree exactly.
class ConvolutionLayer : public torch::nn::Module {
 public:
  ConvolutionLayer(int64_t in, int64_t out) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(in * 9));
    weight_ = register_parameter("weight", torch::empty({out, in, 3, 3}).uniform_(-bound, bound));
    norm_weight_ = register_parameter("norm_weight", torch::ones({out}));
    norm_bias_ = register_parameter("norm_bias", torch::zeros({out}));
  }
  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor y = at::conv2d(x, weight_, {}, 1, 1);
    return at::group_norm(y, 1, norm_weight_, norm_bias_);
  }

 private:
  at::Tensor weight_, norm_weight_, norm_bias_;
};

// Residual convolutions at full size, flatten, Linear to E.
class BoardEncoder : public Encoder {
 public:
  BoardEncoder(const std::vector<int64_t>& shape, int64_t channels, int64_t num_blocks,
               int64_t embed_dim)
      : shape_(shape) {
    stem_ = register_module("stem", std::make_shared<ConvolutionLayer>(shape[0], channels));
    for (int64_t i = 0; i < 2 * num_blocks; ++i) {
      blocks_.push_back(register_module(absl::StrCat("block", i / 2, i % 2 == 0 ? "a" : "b"),
                                        std::make_shared<ConvolutionLayer>(channels, channels)));
    }
    last_ = register_module(
        "last", std::make_shared<LinearLayer>(channels * shape[1] * shape[2], embed_dim));
  }

  at::Tensor Forward(const at::Tensor& observations) const override {
    at::Tensor x = observations.reshape({-1, shape_[0], shape_[1], shape_[2]});
    x = at::relu(stem_->Forward(x));
    for (size_t i = 0; i < blocks_.size(); i += 2) {
      const at::Tensor inner = at::relu(blocks_[i]->Forward(x));
      x = at::relu(x + blocks_[i + 1]->Forward(inner));
    }
    return last_->Forward(x.flatten(1));
  }

 private:
  std::vector<int64_t> shape_;
  std::shared_ptr<ConvolutionLayer> stem_;
  std::vector<std::shared_ptr<ConvolutionLayer>> blocks_;
  std::shared_ptr<LinearLayer> last_;
};

}  // namespace

at::Tensor NormalizeLatent(const at::Tensor& x, LatentNorm norm, int64_t sim_norm_group) {
  if (norm == LatentNorm::kLayerNorm) return at::layer_norm(x, {x.size(-1)});
  return at::softmax(x.unflatten(-1, {-1, sim_norm_group}), -1).flatten(-2);
}

absl::Status CheckEncoder(const ModelConfig& config,
                          const std::vector<int64_t>& observation_shape) {
  if (config.encoder == EncoderKind::kVector || observation_shape.size() == 3) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model.encoder: board needs observations [channels, height, width]; this "
                   "environment gives [",
                   absl::StrJoin(observation_shape, ", "), "]; use encoder: vector"));
}

absl::StatusOr<std::shared_ptr<Encoder>> MakeEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  if (config.encoder == EncoderKind::kBoard) {
    return std::make_shared<BoardEncoder>(observation_shape, config.encoder_channels,
                                          config.encoder_blocks, config.embed_dim);
  }
  int64_t size = 1;
  for (const int64_t length : observation_shape) size *= length;
  return std::make_shared<VectorEncoder>(size, config.encoder_width, config.encoder_layers,
                                         config.embed_dim);
}

}  // namespace lzero
