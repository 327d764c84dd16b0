#include "lzero/family/unizero/packed/packed_weights.h"

#include <algorithm>
#include <utility>

#include "lzero/base/check.h"

namespace lzero::packed {
namespace {

PackedHead MakeHead(const NetworkShape& shape, int64_t out, WeightType type) {
  return {PackedMatrix(shape.embed_dim, shape.head_dim, type), AlignedArray<float>(shape.head_dim),
          AlignedArray<float>(shape.head_dim), PackedMatrix(shape.head_dim, out, type)};
}

int64_t HeadBytes(const NetworkShape& shape, int64_t out, WeightType type) {
  return PackedMatrix::Bytes(shape.embed_dim, shape.head_dim, type) +
         PackedMatrix::Bytes(shape.head_dim, out, type) +
         2 * shape.head_dim * static_cast<int64_t>(sizeof(float));
}

void CopyInto(absl::Span<const float> from, AlignedArray<float>* to) {
  LZ_CHECK(static_cast<int64_t>(from.size()) == to->size(), from.size(), " numbers for ",
           to->size());
  std::copy(from.begin(), from.end(), to->data());
}

void PackHead(const HeadWeights& weights, PackedHead* head) {
  head->first.Pack(weights.first, &weights.norm_in);
  CopyInto(weights.norm_hidden.weight, &head->norm_weight);
  CopyInto(weights.norm_hidden.bias, &head->norm_bias);
  head->last.Pack(weights.last, nullptr);
}

// Inputs of the encoder's layers, the last one included.
std::vector<int64_t> EncoderInputs(const NetworkShape& shape) {
  std::vector<int64_t> inputs(static_cast<size_t>(shape.encoder_layers) + 1, shape.encoder_width);
  inputs[0] = shape.observation_size;
  return inputs;
}

}  // namespace

PackedWeights::PackedWeights(const NetworkShape& shape, WeightType type)
    : shape_(shape),
      policy_(MakeHead(shape, shape.policy_size(), type)),
      value_(MakeHead(shape, shape.value_support.size, type)),
      reward_(MakeHead(shape, shape.reward_support.size, type)),
      latent_(MakeHead(shape, shape.embed_dim, type)),
      action_embedding_(shape.action_rows() * shape.embed_dim) {
  const int64_t embed_dim = shape.embed_dim;
  for (int64_t i = 0; i < shape.num_layers; ++i) {
    blocks_.push_back({PackedMatrix(embed_dim, 3 * embed_dim, type),
                       PackedMatrix(embed_dim, embed_dim, type),
                       PackedMatrix(embed_dim, 4 * embed_dim, type),
                       PackedMatrix(4 * embed_dim, embed_dim, type)});
  }
  if (shape.observation_size == 0) return;
  const std::vector<int64_t> inputs = EncoderInputs(shape);
  for (int64_t i = 0; i < shape.encoder_layers; ++i) {
    encoder_.hidden.emplace_back(inputs[static_cast<size_t>(i)], shape.encoder_width, type);
    encoder_.norm_weights.emplace_back(shape.encoder_width);
    encoder_.norm_biases.emplace_back(shape.encoder_width);
  }
  encoder_.last.emplace(inputs.back(), embed_dim, type);
}

int64_t PackedWeights::Bytes(const NetworkShape& shape, WeightType type) {
  const int64_t embed_dim = shape.embed_dim;
  const auto float_size = static_cast<int64_t>(sizeof(float));
  const int64_t block = PackedMatrix::Bytes(embed_dim, 3 * embed_dim, type) +
                        PackedMatrix::Bytes(embed_dim, embed_dim, type) +
                        PackedMatrix::Bytes(embed_dim, 4 * embed_dim, type) +
                        PackedMatrix::Bytes(4 * embed_dim, embed_dim, type);
  int64_t bytes = shape.num_layers * block + HeadBytes(shape, shape.policy_size(), type) +
                  HeadBytes(shape, shape.value_support.size, type) +
                  HeadBytes(shape, shape.reward_support.size, type) +
                  HeadBytes(shape, embed_dim, type) + shape.action_rows() * embed_dim * float_size;
  if (shape.observation_size == 0) return bytes;
  const std::vector<int64_t> inputs = EncoderInputs(shape);
  for (int64_t i = 0; i < shape.encoder_layers; ++i) {
    bytes += PackedMatrix::Bytes(inputs[static_cast<size_t>(i)], shape.encoder_width, type) +
             2 * shape.encoder_width * float_size;
  }
  return bytes + PackedMatrix::Bytes(inputs.back(), embed_dim, type);
}

void PackedWeights::Pack(const NetworkWeights& weights) {
  // Transformer blocks.
  LZ_CHECK(weights.blocks.size() == blocks_.size(), weights.blocks.size(), " blocks for ",
           blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const BlockWeights& block = weights.blocks[i];
    blocks_[i].query_key_value.Pack(block.query_key_value, &block.norm_attention);
    blocks_[i].projection.Pack(block.projection, nullptr);
    blocks_[i].expand.Pack(block.expand, &block.norm_feed_forward);
    blocks_[i].contract.Pack(block.contract, nullptr);
  }
  // Heads and the action embedding.
  PackHead(weights.policy, &policy_);
  PackHead(weights.value, &value_);
  PackHead(weights.reward, &reward_);
  PackHead(weights.latent, &latent_);
  CopyInto(weights.action_embedding, &action_embedding_);
  // The encoder.
  if (!encoder_.last.has_value()) return;
  LZ_CHECK(weights.encoder.hidden.size() == encoder_.hidden.size() &&
               weights.encoder.norms.size() == encoder_.hidden.size(),
           weights.encoder.hidden.size(), " encoder layers for ", encoder_.hidden.size());
  for (size_t i = 0; i < encoder_.hidden.size(); ++i) {
    encoder_.hidden[i].Pack(weights.encoder.hidden[i], nullptr);
    CopyInto(weights.encoder.norms[i].weight, &encoder_.norm_weights[i]);
    CopyInto(weights.encoder.norms[i].bias, &encoder_.norm_biases[i]);
  }
  encoder_.last->Pack(weights.encoder.last, nullptr);
}

}  // namespace lzero::packed
