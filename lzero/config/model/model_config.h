// What a config says of the network: the section `model`. Plain data, no thread rule.
#ifndef LZERO_CONFIG_MODEL_MODEL_CONFIG_H_
#define LZERO_CONFIG_MODEL_MODEL_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lzero/config/model/support_range.h"

namespace lzero {

class FieldList;

// The kinds of model and of what searches them: a line each, with the name in configs. The rest of
// family X is its folder, where XFamily() is made (lzero/family/packed/families.h).
#define LZ_FAMILIES(FAMILY)                     \
  FAMILY(UniZero, "unizero")                    \
  FAMILY(MuZero, "muzero")                      \
  FAMILY(StochasticMuZero, "stochastic_muzero") \
  FAMILY(AlphaZero, "alphazero")
#define LZ_FAMILY_VALUE(name, text) k##name,
enum class Family { LZ_FAMILIES(LZ_FAMILY_VALUE) };
#undef LZ_FAMILY_VALUE
enum class EncoderKind { kVector, kBoard, kImage };
enum class LatentNorm { kLayerNorm, kSimNorm };
enum class LatentLoss { kMse, kGroupKl, kNone, kCosine };
enum class ProjectorNorm { kLayer, kBatch };
enum class TerminalMode { kAbsorb, kMask };

inline constexpr char kNoGroup[] = "none";
// Channels to which a head of planes takes those of each cell first.
inline constexpr int64_t kHeadChannels = 16;

struct ModelConfig {
  Family family = Family::kUniZero;
  EncoderKind encoder = EncoderKind::kVector;
  int64_t encoder_width = 128;    // vector: hidden units
  int64_t encoder_layers = 1;     // vector: hidden layers
  int64_t encoder_channels = 32;  // board, image: channels
  int64_t encoder_blocks = 1;     // board, image: residual blocks at full, at the last size
  std::string encoder_group = kNoGroup;
  bool normalize_observations = false;
  int64_t embed_dim = 64;
  int64_t num_layers = 2;
  int64_t num_heads = 2;
  int64_t context_length = 8;                                        // W, tokens
  int64_t support_size = 101;                                        // S, odd
  std::map<std::string, std::string> value_support, reward_support;  // ParseSupportRange
  std::optional<int64_t> head_dim;                                   // null: 4 * embed_dim
  bool head_pooling = false;                                         // board, image
  bool policy_cells = false;                                         // board
  LatentNorm latent_norm = LatentNorm::kLayerNorm;
  LatentLoss latent_loss = LatentLoss::kMse;
  int64_t projector_layers = 1;  // cosine
  ProjectorNorm projector_norm = ProjectorNorm::kLayer;
  int64_t sim_norm_group = 8;
  double dropout = 0.0;
  TerminalMode terminal = TerminalMode::kAbsorb;

  // nullopt: support_size atoms of h. The entries must be right (CheckModel).
  std::optional<SupportRange> value_range() const;
  std::optional<SupportRange> reward_range() const;
  // Hidden units of the heads; their outputs.
  int64_t head_units() const { return head_dim.value_or(4 * embed_dim); }
  int64_t value_bins() const;
  int64_t reward_bins() const;
  void Visit(FieldList& field);

 private:
  void VisitHeads(FieldList& field);
  void VisitLatents(FieldList& field);
};

}  // namespace lzero

#endif  // LZERO_CONFIG_MODEL_MODEL_CONFIG_H_
