#include "lzero/world_model/model_size.h"

#include <algorithm>

#include "lzero/base/status_macros.h"
#include "lzero/config/encoder_rules.h"
#include "lzero/nn/encoder.h"

namespace lzero {
namespace {

int64_t LinearSize(int64_t in, int64_t out) { return in * out + out; }
int64_t NormSize(int64_t size) { return 2 * size; }
int64_t ConvolutionSize(int64_t in, int64_t out) { return in * out * 9 + NormSize(out); }

int64_t HeadSize(int64_t embed_dim, int64_t head_dim, int64_t out) {
  return NormSize(embed_dim) + LinearSize(embed_dim, head_dim) + NormSize(head_dim) +
         LinearSize(head_dim, out);
}

int64_t VectorEncoderSize(const ModelConfig& config, int64_t observation_size) {
  int64_t size = 0;
  int64_t in = observation_size;
  for (int64_t i = 0; i < config.encoder_layers; ++i, in = config.encoder_width) {
    size += LinearSize(in, config.encoder_width) + NormSize(config.encoder_width);
  }
  return size + LinearSize(in, config.embed_dim);
}

int64_t BoardEncoderSize(const ModelConfig& config, const std::vector<int64_t>& shape) {
  const int64_t channels = config.encoder_channels;
  return ConvolutionSize(shape[0], channels) +
         2 * config.encoder_blocks * ConvolutionSize(channels, channels) +
         LinearSize(channels * shape[1] * shape[2], config.embed_dim);
}

int64_t ImageEncoderSize(const ModelConfig& config, const std::vector<int64_t>& shape) {
  const int64_t channels = config.encoder_channels;
  int64_t height = shape[1], width = shape[2], num_halvings = 0;
  for (; std::max(height, width) > kImageCells; ++num_halvings) {
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
  return ConvolutionSize(shape[0], channels) +
         2 * (num_halvings - 1 + config.encoder_blocks) * ConvolutionSize(channels, channels) +
         LinearSize(channels * height * width, config.embed_dim);
}

int64_t EncoderSize(const ModelConfig& config, const std::vector<int64_t>& shape) {
  if (config.encoder == EncoderKind::kBoard) return BoardEncoderSize(config, shape);
  if (config.encoder == EncoderKind::kImage) return ImageEncoderSize(config, shape);
  int64_t observation_size = 1;
  for (const int64_t length : shape) observation_size *= length;
  return VectorEncoderSize(config, observation_size);
}

// Two norms, query-key-value, projection, and the two layers of the feed-forward part.
int64_t BlockSize(int64_t embed_dim) {
  return 2 * NormSize(embed_dim) + LinearSize(embed_dim, 3 * embed_dim) +
         LinearSize(embed_dim, embed_dim) + LinearSize(embed_dim, 4 * embed_dim) +
         LinearSize(4 * embed_dim, embed_dim);
}

}  // namespace

absl::StatusOr<int64_t> CountParameters(const ModelConfig& config, const WorldModelShape& shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, shape.observation_shape));
  const int64_t embed_dim = config.embed_dim;
  const int64_t head_dim = config.head_dim.value_or(4 * embed_dim);
  return EncoderSize(config, shape.observation_shape) + shape.action_rows() * embed_dim +
         config.num_layers * BlockSize(embed_dim) +
         HeadSize(embed_dim, head_dim, shape.policy_size()) +
         2 * HeadSize(embed_dim, head_dim, config.support_size) +
         HeadSize(embed_dim, head_dim, embed_dim);
}

}  // namespace lzero
