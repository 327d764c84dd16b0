#include "lzero/config/model/model_config.h"

#include "lzero/config/field_sources.h"
#include "lzero/config/fields.h"

namespace lzero {

void ModelConfig::Visit(FieldList& field) {
  field.Begin("model", "The world model: encoder, transformer, heads.");
#define LZ_FAMILY_NAME(name, text) text,
  field("family", &family, {LZ_FAMILIES(LZ_FAMILY_NAME)},
        "Kind of model, and with it of inference and losses: unizero is a transformer that "
        "predicts the steps of its search, muzero and stochastic_muzero have recurrent latent "
        "states; alphazero is a policy and a value that search in the environment itself; of these "
        "keys it reads encoder*, embed_dim, head_dim, support_size, value_support, latent_norm, "
        "sim_norm_group, normalize_observations, terminal, policy_cells and with it head_pooling "
        "alone",
        "", kFamilies);
#undef LZ_FAMILY_NAME
  field("encoder", &encoder, {"vector", "board", "image"},
        "Encoder of observations: an MLP for vectors, residual convolutions at full size for "
        "boards, and with stride 2 down to 8x8 for images");
  field("encoder_width", &encoder_width, {1, 65536}, "Vector encoder: width of its hidden layers",
        "units", kTrialRuns);
  field("encoder_layers", &encoder_layers, {0, 64}, "Vector encoder: number of hidden layers",
        "layers", kTrialRuns);
  field("encoder_channels", &encoder_channels, {1, 4096}, "Board and image encoder: channels",
        "channels");
  field("encoder_blocks", &encoder_blocks, {0, 256},
        "Board and image encoder: residual blocks at the last size", "blocks",
        "LightZero, TicTacToe configs");
  field("encoder_group", &encoder_group,
        "Tasks with the same word here share one encoder; none: each has its own");
  field("normalize_observations", &normalize_observations,
        "Observations less their running mean; vectors also over their running deviation, held "
        "inside +-10. The statistics are learned from sampled batches and saved with the weights",
        "", kEfficientZeroV2);
  field("embed_dim", &embed_dim, {2, 65536}, "Width E of tokens and latent states", "units",
        kCartPole);
  field("num_layers", &num_layers, {1, 256}, "Transformer blocks L", "layers", kCartPole);
  field("num_heads", &num_heads, {1, 1024},
        "Attention heads; they divide embed_dim into heads of even size", "heads", kCartPole);
  field("context_length", &context_length, {2, 65536},
        "Window W: a token attends to itself and the W - 1 tokens before it; an environment step "
        "is two tokens",
        "tokens", kUniZero);
  VisitHeads(field);
  VisitLatents(field);
}

void ModelConfig::VisitLatents(FieldList& field) {
  field("latent_norm", &latent_norm, {"layer_norm", "sim_norm"}, "Final norm of latent states", "",
        "LightZero (layer_norm), UniZero (sim_norm)");
  field("latent_loss", &latent_loss, {"mse", "group_kl", "none", "cosine"},
        "Loss of the next latent: mse goes with layer_norm, group_kl with sim_norm; family muzero "
        "alone: none, and cosine, the self-supervised loss of EfficientZero",
        "", "LightZero (mse), UniZero (group_kl), EfficientZero (cosine)");
  field("projector_layers", &projector_layers, {1, 16},
        "latent_loss cosine: linear layers that both sides go through before they are compared, "
        "each but the last with a norm and GELU behind it; with more than one there is a norm at "
        "the end",
        "layers", kEfficientZeroV2);
  field("projector_norm", &projector_norm, {"layer", "batch"},
        "These norms: of each row, or of each number over all rows of the batch", "",
        kEfficientZeroV2);
  field("sim_norm_group", &sim_norm_group, {2, 65536}, "Units in one softmax group of sim_norm",
        "units", kUniZero);
  field("dropout", &dropout, {0, 1, false, true}, "Dropped share of activations while learning", "",
        kTrialRuns);
  field("terminal", &terminal, {"absorb", "mask"},
        "After a true end of an episode: absorb continues with absorbing steps, mask leaves later "
        "steps out of the losses",
        "", kTrialRuns);
}

void ModelConfig::VisitHeads(FieldList& field) {
  field("support_size", &support_size, {3, 100001},
        "Atoms of the two-hot support of values and rewards, odd", "atoms", kLightZero);
  field(
      "value_support", &value_support,
      "Atoms of values in place of support_size: {min: -1, max: 1, bins: 3} spreads three evenly, "
      "which for a game are loss, draw and win; {}: support_size atoms of the transform h");
  field("reward_support", &reward_support, "The same for rewards");
  field("head_dim", &head_dim, {1, 1048576}, "Hidden units of the heads; null: 4 * embed_dim",
        "units", kLightZero);
  field("head_pooling", &head_pooling,
        "Board and image encoder, but unizero: heads read the largest and the mean number of their "
        "planes beside every cell",
        "", kKataGo);
  field(
      "policy_cells", &policy_cells,
      "Board encoder, but unizero: the policy head reads every cell by itself and says what may be "
      "placed or moved there, for games whose actions have a cell; latents of alphazero are planes "
      "then",
      "", kAlphaZero);
}

namespace {

std::optional<SupportRange> RangeOf(const std::map<std::string, std::string>& entries) {
  return ParseSupportRange(entries).value();
}

}  // namespace

std::optional<SupportRange> ModelConfig::value_range() const { return RangeOf(value_support); }
std::optional<SupportRange> ModelConfig::reward_range() const { return RangeOf(reward_support); }

int64_t ModelConfig::value_bins() const {
  const std::optional<SupportRange> range = value_range();
  return range.has_value() ? range->bins : support_size;
}
int64_t ModelConfig::reward_bins() const {
  const std::optional<SupportRange> range = reward_range();
  return range.has_value() ? range->bins : support_size;
}

}  // namespace lzero
