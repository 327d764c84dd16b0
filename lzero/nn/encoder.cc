#include "lzero/nn/encoder.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/kernels/convolution/plane_kernels.h"
#include "lzero/kernels/parallel.h"
#include "lzero/nn/convolution.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/functional/norm.h"
#include "lzero/nn/functional/perceptron.h"
#include "lzero/nn/functional/planes.h"
#include "lzero/nn/layers.h"
#include "lzero/packed/observation_encoder.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// x [N, size] of bytes or float32 -> float32.
at::Tensor AsFloats(const at::Tensor& x) {
  if (x.scalar_type() != at::kByte) return x;
  return PlanesOfBytes(x.reshape({-1, 1, 1, x.size(-1)})).view(x.sizes());
}

// MLP: Linear, LayerNorm, GELU for each hidden layer, then Linear to E.
class VectorEncoder : public Encoder {
 public:
  VectorEncoder(const std::vector<int64_t>& shape, const ModelConfig& config)
      : Encoder(config, shape) {
    const int64_t in = packed::ObservationSize(shape), width = config.encoder_width;
    const int64_t num_hidden = config.encoder_layers, embed_dim = config.embed_dim;
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
    at::Tensor x = Prepare(observations);
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

constexpr int64_t kBlockFloats = int64_t{1} << 15;  // of planes that are made of bytes at once

// The parameters of a module by their names, behind a dot.
class ModuleWeights : public packed::WeightSource {
 public:
  explicit ModuleWeights(const torch::nn::Module& module)
      : parameters_(module.named_parameters()) {}
  absl::Span<const float> Get(const std::string& name,
                              absl::Span<const int64_t> /*shape*/) const override {
    const at::Tensor& parameter = parameters_[name.substr(1)];
    LZ_CHECK(parameter.is_contiguous(), name);
    return {parameter.const_data_ptr<float>(), static_cast<size_t>(parameter.numel())};
  }

 private:
  torch::OrderedDict<std::string, at::Tensor> parameters_;
};

// A convolution, residual blocks of two convolutions each, flatten, Linear to E; `embed_dim` 0
// leaves the last of them out, where planes are wanted. Boards keep their size. For images the stem
// and one block after another halve the size until no side is more than 8 cells; blocks at that
// size follow: 64x64 ends at 8x8, 96x96 at 6x6.
class ConvolutionEncoder : public Encoder {
 public:
  ConvolutionEncoder(const std::vector<int64_t>& shape, const ModelConfig& config,
                     int64_t embed_dim)
      : Encoder(config, shape),
        shape_(shape),
        channels_(config.encoder_channels),
        tower_(packed::EncoderTower(config, shape)) {
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
    const at::Tensor ready =
        normalizes() ? Prepare(observations.reshape({-1, shape_[0] * shape_[1] * shape_[2]}))
                     : observations;
    const at::Tensor x = ready.reshape({-1, shape_[0], shape_[1], shape_[2]});
    const at::Tensor planes = (GoesBySamples(x) ? RunTower(x) : RunLayers(x)).flatten(1);
    return last_ != nullptr ? last_->Forward(planes) : planes;
  }

 private:
  at::Tensor RunLayers(at::Tensor x) const {
    if (x.scalar_type() == at::kByte) x = PlanesOfBytes(x);
    x = stem_->Forward(x, /*relu=*/true);
    for (size_t i = 0; i < blocks_.size(); i += 2) {
      x = ResidualSum(x, *blocks_[i], *blocks_[i + 1], /*relu=*/true);
    }
    return x;
  }

  // Where nothing is kept for gradients a few samples go through all layers while they are in the
  // caches, as in a search.
  bool GoesBySamples(const at::Tensor& x) const {
    if (x.size(0) < kFewRows || !x.is_cpu() || NeedsGradient({x})) return false;
    const std::vector<at::Tensor> weights = parameters();
    return CanFuse({weights[0], x.scalar_type() == at::kByte ? weights[0] : x}) &&
           std::none_of(weights.begin(), weights.end(),
                        [](const at::Tensor& weight) { return NeedsGradient({weight}); });
  }

  at::Tensor RunTower(const at::Tensor& x) const {
    packed::PlaneTower tower(tower_);
    tower.Load(ModuleWeights(*this), "");
    const bool is_byte = x.scalar_type() == at::kByte;
    const at::Tensor ready =
        x.contiguous(is_byte ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast);
    const PlaneSizes out = tower_.output(1);
    at::Tensor y =
        at::empty({x.size(0), channels_, out.height, out.width},
                  x.options().dtype(at::kFloat).memory_format(at::MemoryFormat::ChannelsLast));
    const int64_t size = x.numel() / x.size(0), out_size = y.numel() / x.size(0);
    const int64_t block = std::max<int64_t>(1, kBlockFloats / size);
    const int64_t scratch_size = packed::PlaneTower::ScratchSize(tower_);
    auto* const to = y.mutable_data_ptr<float>();
    const auto body = [&](int64_t begin, int64_t end) {
      std::vector<float> scratch(static_cast<size_t>(scratch_size + block * size));
      float* const planes = scratch.data() + scratch_size;
      for (int64_t i = begin; i < end; i += block) {
        const int64_t count = std::min(block, end - i);
        const float* from = planes;
        if (is_byte) {
          BytesToPlanes(tower_.input(count), shape_[0], ready.const_data_ptr<uint8_t>() + i * size,
                        planes);
        } else {
          from = ready.const_data_ptr<float>() + i * size;
        }
        tower.Run(from, {}, count, to + i * out_size, scratch.data());
      }
    };
    ParallelFor(0, x.size(0), 1, body);
    return y;
  }

  void AddBlock(const std::string& name, int64_t stride) {
    for (const char* part : {"a", "b"}) {
      blocks_.push_back(register_module(
          absl::StrCat(name, part),
          std::make_shared<ConvolutionLayer>(channels_, channels_, part[0] == 'a' ? stride : 1)));
    }
  }

  std::vector<int64_t> shape_;
  int64_t channels_;
  packed::TowerShape tower_;
  std::shared_ptr<ConvolutionLayer> stem_;
  std::vector<std::shared_ptr<ConvolutionLayer>> blocks_;  // two a block
  std::shared_ptr<LinearLayer> last_;
};

}  // namespace

Encoder::Encoder(const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  if (!config.normalize_observations) return;
  norm_ = register_module(
      "observations", std::make_shared<ObservationNorm>(packed::ObservationSize(observation_shape),
                                                        config.encoder == EncoderKind::kVector));
}

at::Tensor Encoder::Prepare(const at::Tensor& observations) const {
  const at::Tensor x = AsFloats(observations);
  return norm_ != nullptr ? norm_->Forward(x) : x;
}

void Encoder::Observe(const at::Tensor& observations, const at::Tensor& skip) {
  if (norm_ == nullptr) return;
  const torch::NoGradGuard no_grad;
  norm_->Observe(AsFloats(observations), skip);
}

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
  return std::make_shared<VectorEncoder>(observation_shape, config);
}

absl::StatusOr<std::shared_ptr<Encoder>> MakePlaneEncoder(
    const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, observation_shape));
  LZ_CHECK(config.encoder != EncoderKind::kVector, "vectors have no planes");
  return std::make_shared<ConvolutionEncoder>(observation_shape, config, /*embed_dim=*/0);
}

}  // namespace lzero
