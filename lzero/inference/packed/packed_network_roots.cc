// Roots rebuilt from their pasts: whole sequences through the blocks, several roots at a time.
#include <algorithm>

#include "lzero/inference/packed/packed_network.h"

namespace lzero::packed {

// Latents of all observations of the group, row after row, in scratch->x.
void PackedNetwork::EncodePasts(const Share& share, absl::Span<const RootPast> roots,
                                TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  int64_t row = 0;
  if (roots[0].observations == nullptr) {
    for (const RootPast& root : roots) {
      for (int64_t t = 0; t <= root.num_past_steps && share.member == 0; ++t, ++row) {
        std::copy_n(root.latents + t * shape.embed_dim, shape.embed_dim,
                    scratch->x.data() + row * scratch->x_stride);
      }
    }
    return;
  }
  for (const RootPast& root : roots) {
    const int64_t size = (root.num_past_steps + 1) * shape.observation_size;
    if (share.member == 0) {
      std::copy_n(root.observations, size, scratch->observations.data() + row);
    }
    row += size;
  }
  share.Barrier();
  pass_.Encode(share, scratch->observations.data(), row / shape.observation_size, scratch);
}

// Spreads the latents, puts the actions between them, and says what every token sees and for how
// many layers its output is needed: a token k places before the last one is seen through ceil(k /
// (W - 1)) layers.
void PackedNetwork::PlaceTokens(absl::Span<const RootPast> roots, TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  const int64_t kept = shape.context_length - 1, token_size = shape.token_size();
  int64_t num_latents = 0;
  for (const RootPast& root : roots) num_latents += root.num_past_steps + 1;
  const int64_t num_tokens = 2 * num_latents - static_cast<int64_t>(roots.size());
  // From the end, so that no latent is overwritten before it has moved.
  int64_t latent = num_latents, row = num_tokens;
  for (size_t i = roots.size(); i-- > 0;) {
    const RootPast& root = roots[i];
    const int64_t length = 2 * root.num_past_steps + 1;
    for (int64_t t = length - 1; t >= 0; --t) {
      --row;
      if (t % 2 == 1) {
        CopyAction(root.actions[t / 2], row, scratch);
      } else {
        --latent;
        std::copy_n(scratch->x.data() + latent * scratch->x_stride, shape.embed_dim,
                    scratch->x.data() + row * scratch->x_stride);
      }
      const int64_t size = std::min(t, kept) + 1;
      const float** window = scratch->windows.data() + row * shape.context_length;
      for (int64_t j = 0; j < size; ++j) window[j] = root.tokens + (t - size + 1 + j) * token_size;
      const size_t place = static_cast<size_t>(row);
      scratch->window_sizes[place] = static_cast<int32_t>(size);
      scratch->tokens[place] = root.tokens + t * token_size;
      const int64_t distance = length - 1 - t;
      const int64_t layers_above =
          kept == 0 ? (distance == 0 ? 0 : shape.num_layers) : (distance + kept - 1) / kept;
      scratch->num_output_layers[place] =
          static_cast<int32_t>(std::max<int64_t>(0, shape.num_layers - layers_above));
    }
  }
}

void PackedNetwork::RebuildGroup(const Share& share, absl::Span<const RootPast> roots,
                                 TokenScratch* scratch, float* values, float* prior_logits) const {
  int64_t num_tokens = 0;
  for (const RootPast& root : roots) num_tokens += 2 * root.num_past_steps + 1;
  EncodePasts(share, roots, scratch);
  if (share.member == 0) PlaceTokens(roots, scratch);
  share.Barrier();
  const int64_t left = pass_.RunBlocksOfSome(share, num_tokens, scratch);
  ReadPolicyAndValue(share, left, scratch, values, prior_logits);
}

}  // namespace lzero::packed
