#include "lzero/world_model/model_size.h"

#include "lzero/base/status_macros.h"
#include "lzero/nn/encoder.h"

namespace lzero {
namespace {

int64_t LinearSize(int64_t in, int64_t out) { return in * out + out; }
int64_t NormSize(int64_t size) { return 2 * size; }

int64_t HeadSize(int64_t embed_dim, int64_t head_dim, int64_t out) {
  return NormSize(embed_dim) + LinearSize(embed_dim, head_dim) + NormSize(head_dim) +
         LinearSize(head_dim, out);
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
  return EncoderParameters(config, shape.observation_shape) + shape.action_rows() * embed_dim +
         config.num_layers * BlockSize(embed_dim) +
         HeadSize(embed_dim, head_dim, shape.policy_size()) +
         2 * HeadSize(embed_dim, head_dim, config.support_size) +
         HeadSize(embed_dim, head_dim, embed_dim);
}

absl::StatusOr<int64_t> CountAlphaZeroParameters(const ModelConfig& config,
                                                 const WorldModelShape& shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, shape.observation_shape));
  const int64_t head_dim = config.head_dim.value_or(4 * config.embed_dim);
  return EncoderParameters(config, shape.observation_shape) +
         HeadSize(config.embed_dim, head_dim, shape.num_actions) +
         HeadSize(config.embed_dim, head_dim, config.support_size);
}

}  // namespace lzero
