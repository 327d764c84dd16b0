// All weights of a world model in packed form, and what they are packed from: spans of plain
// floats, named like the modules of WorldModel. Knows no torch. Packing again after an
// update writes the same addresses. Belongs to one thread while it is written.
#ifndef LZERO_FAMILY_UNIZERO_PACKED_PACKED_WEIGHTS_H_
#define LZERO_FAMILY_UNIZERO_PACKED_PACKED_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/product/packed_matrix.h"
#include "lzero/kernels/value_support.h"

namespace lzero::packed {

// Sizes of a model. A vector encoder has a layer of `encoder_width` for each of `encoder_layers`;
// observation_size 0: the encoder is not packed.
struct NetworkShape {
  int64_t embed_dim = 0;
  int64_t num_heads = 0;
  int64_t num_layers = 0;
  int64_t context_length = 0;
  int64_t head_dim = 0;     // of the prediction heads' hidden layer
  int64_t num_actions = 0;  // discrete actions; 0: box
  int64_t action_dim = 0;   // D of box actions; else 0
  ValueSupport value_support, reward_support;
  LatentNorm latent_norm = LatentNorm::kLayerNorm;
  int64_t sim_norm_group = 0;
  int64_t observation_size = 0;
  int64_t encoder_width = 0;
  int64_t encoder_layers = 0;

  // Outputs of the policy head: a logit for each action; box: means, then logs of sigma.
  int64_t policy_size() const { return action_dim > 0 ? 2 * action_dim : num_actions; }
  // Rows of the action embedding: one for each action; box: one for each number, then the bias.
  int64_t action_rows() const { return action_dim > 0 ? action_dim + 1 : num_actions; }
  int64_t head_size() const { return embed_dim / num_heads; }
  // Floats of the keys and values of one token in all layers: [L, 2, E].
  int64_t token_size() const { return num_layers * 2 * embed_dim; }
};

struct BlockWeights {
  NormWeights norm_attention;
  LinearWeights query_key_value;  // [3 E, E]
  LinearWeights projection;       // [E, E]
  NormWeights norm_feed_forward;
  LinearWeights expand;    // [4 E, E]
  LinearWeights contract;  // [E, 4 E]
};

struct HeadWeights {
  NormWeights norm_in;
  LinearWeights first;  // [head_dim, E]
  NormWeights norm_hidden;
  LinearWeights last;  // [out, head_dim]
};

struct EncoderWeights {
  std::vector<LinearWeights> hidden;
  std::vector<NormWeights> norms;
  LinearWeights last;
};

struct NetworkWeights {
  EncoderWeights encoder;                    // empty where it is not packed
  absl::Span<const float> action_embedding;  // [action rows, E]
  std::vector<BlockWeights> blocks;
  HeadWeights policy, value, reward, latent;
};

struct PackedBlock {
  PackedMatrix query_key_value, projection, expand, contract;
};

struct PackedHead {
  PackedMatrix first;
  AlignedArray<float> norm_weight, norm_bias;  // [head_dim] of the hidden norm
  PackedMatrix last;
};

// Linear, LayerNorm, GELU for each hidden layer, then Linear.
struct PackedEncoder {
  std::vector<PackedMatrix> hidden;
  std::vector<AlignedArray<float>> norm_weights, norm_biases;
  std::optional<PackedMatrix> last;  // none where the encoder is not packed
};

class PackedWeights {
 public:
  // Zeros. `shape` must be one that a config allows.
  PackedWeights(const NetworkShape& shape, WeightType type);
  static int64_t Bytes(const NetworkShape& shape, WeightType type);

  // Packs `weights`, float32, in place. The caller must give the sizes of the shape (LZ_CHECK).
  void Pack(const NetworkWeights& weights);

  const std::vector<PackedBlock>& blocks() const { return blocks_; }
  const PackedHead& policy() const { return policy_; }
  const PackedHead& value() const { return value_; }
  const PackedHead& reward() const { return reward_; }
  const PackedHead& latent() const { return latent_; }
  const PackedEncoder& encoder() const { return encoder_; }
  const float* action_embedding() const { return action_embedding_.data(); }  // [action rows, E]

 private:
  NetworkShape shape_;
  std::vector<PackedBlock> blocks_;
  PackedHead policy_, value_, reward_, latent_;
  PackedEncoder encoder_;
  AlignedArray<float> action_embedding_;
};

}  // namespace lzero::packed

#endif  // LZERO_FAMILY_UNIZERO_PACKED_PACKED_WEIGHTS_H_
