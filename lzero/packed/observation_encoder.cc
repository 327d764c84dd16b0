#include "lzero/packed/observation_encoder.h"

#include "absl/strings/str_cat.h"
#include "lzero/config/model/encoder_rules.h"

namespace lzero::packed {
namespace {

// All of a vector's encoder; the last layer behind a tower.
ChainShape ChainOf(const ModelConfig& config, const std::vector<int64_t>& shape) {
  ChainShape chain;
  if (config.encoder == EncoderKind::kVector) {
    chain.in = ObservationSize(shape);
    for (int64_t i = 0; i < config.encoder_layers; ++i) {
      chain.layers.push_back(
          {absl::StrCat("hidden", i), config.encoder_width, absl::StrCat("norm", i)});
    }
  } else {
    const TowerShape tower = EncoderTower(config, shape);
    chain.in = tower.output(1).cells() * tower.channels;
  }
  chain.layers.push_back({"last", config.embed_dim});
  return chain;
}

// y [rows, cells, channels] of x [rows, channels, cells].
void PutChannelsLast(const float* x, int64_t rows, int64_t channels, int64_t cells, float* y) {
  for (int64_t row = 0; row < rows; ++row, x += channels * cells, y += channels * cells) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t cell = 0; cell < cells; ++cell) {
        y[cell * channels + channel] = x[channel * cells + cell];
      }
    }
  }
}

}  // namespace

TowerShape EncoderTower(const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  TowerShape tower;
  tower.in = observation_shape[0];
  tower.height = observation_shape[1];
  tower.width = observation_shape[2];
  tower.channels = config.encoder_channels;
  if (config.encoder == EncoderKind::kImage) {
    const std::vector<PlaneSize> sizes = ImageEncoderSizes(tower.height, tower.width);
    tower.stem_stride = 2;
    for (size_t i = 1; i < sizes.size(); ++i) {
      tower.blocks.push_back({absl::StrCat("halving", i - 1), 2});
    }
  }
  for (int64_t i = 0; i < config.encoder_blocks; ++i) {
    tower.blocks.push_back({absl::StrCat("block", i), 1});
  }
  return tower;
}

int64_t ObservationSize(const std::vector<int64_t>& shape) {
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  return size;
}

PlaneSizes EncodedPlanes(const ModelConfig& config, const std::vector<int64_t>& observation_shape) {
  return EncoderTower(config, observation_shape).output(1);
}

ObservationEncoder::ObservationEncoder(const ModelConfig& config,
                                       const std::vector<int64_t>& observation_shape,
                                       bool ends_in_planes)
    : observation_size_(ObservationSize(observation_shape)), norm_(config, observation_size_) {
  const ChainShape chain = ChainOf(config, observation_shape);
  out_size_ = ends_in_planes ? chain.in : config.embed_dim;
  if (!ends_in_planes) chain_.emplace(chain);
  if (config.encoder == EncoderKind::kVector) return;
  tower_.emplace(EncoderTower(config, observation_shape));
  if (ends_in_planes) return;
  // The network flattens [channels, cells].
  const int64_t channels = config.encoder_channels, cells = chain.in / channels;
  columns_.reserve(static_cast<size_t>(chain.in));
  for (int64_t cell = 0; cell < cells; ++cell) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      columns_.push_back(channel * cells + cell);
    }
  }
}

int64_t ObservationEncoder::Bytes(const ModelConfig& config,
                                  const std::vector<int64_t>& observation_shape,
                                  bool ends_in_planes) {
  const ChainShape chain = ChainOf(config, observation_shape);
  int64_t bytes = ObservationNorm::Bytes(config, ObservationSize(observation_shape)) +
                  (ends_in_planes ? 0 : chain.Bytes());
  if (config.encoder == EncoderKind::kVector) return bytes;
  bytes += PlaneTower::Bytes(EncoderTower(config, observation_shape));
  if (ends_in_planes) return bytes;
  return bytes + chain.in * static_cast<int64_t>(sizeof(int64_t)) + chain.ReorderedBytes();
}

int64_t ObservationEncoder::ScratchSize(const ModelConfig& config,
                                        const std::vector<int64_t>& observation_shape,
                                        bool ends_in_planes, int64_t rows) {
  const ChainShape chain = ChainOf(config, observation_shape);
  const int64_t observations = rows * ObservationSize(observation_shape);
  const int64_t normed = config.normalize_observations ? observations : 0;
  if (config.encoder == EncoderKind::kVector) return normed + chain.ScratchSize(rows);
  return normed + observations + (ends_in_planes ? 0 : rows * chain.in) +
         PlaneTower::ScratchSize(EncoderTower(config, observation_shape));
}

void ObservationEncoder::Load(const WeightSource& weights, const std::string& module) {
  norm_.Load(weights, module + ".observations");
  if (!tower_.has_value()) return chain_->Load(weights, module);
  tower_->Load(weights, module);
  if (chain_.has_value()) chain_->LoadReordered(weights, module, columns_);
}

void ObservationEncoder::Run(const float* observations, int64_t rows, float* y,
                             float* scratch) const {
  if (norm_.is_on()) {
    norm_.Run(observations, rows, scratch);
    observations = scratch;
    scratch += rows * observation_size_;
  }
  if (!tower_.has_value()) return chain_->Run(observations, rows, y, scratch);
  const int64_t channels = tower_->shape().in;
  float* planes = scratch + rows * observation_size_;
  PutChannelsLast(observations, rows, channels, observation_size_ / channels, scratch);
  if (!chain_.has_value()) return tower_->Run(scratch, {}, rows, y, planes);
  tower_->Run(scratch, {}, rows, planes, planes + rows * chain_->in());
  chain_->Run(planes, rows, y, nullptr);
}

}  // namespace lzero::packed
