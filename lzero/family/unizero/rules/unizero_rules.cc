#include "lzero/family/unizero/rules/unizero_rules.h"

#include "absl/strings/str_cat.h"
#include "lzero/config/consistency.h"

namespace lzero {

std::vector<ConsistencyError> UniZeroModelErrors(const ModelConfig& model) {
  std::vector<ConsistencyError> errors;
  // The transformer.
  const bool divides = model.embed_dim % model.num_heads == 0;
  Require(divides, &errors, {"model.num_heads", "model.embed_dim"},
          absl::StrCat("must divide embed_dim; got num_heads ", model.num_heads, ", embed_dim ",
                       model.embed_dim));
  Require(!divides || model.embed_dim / model.num_heads % 2 == 0, &errors,
          {"model.num_heads", "model.embed_dim"},
          absl::StrCat("rotary positions need heads of even size; got embed_dim ", model.embed_dim,
                       " / num_heads ", model.num_heads, " = ", model.embed_dim / model.num_heads));
  Require(model.context_length % 2 == 0, &errors, {"model.context_length"},
          absl::StrCat("must be even, because a step is two tokens; got ", model.context_length));
  // The latent loss.
  const bool compares =
      model.latent_loss == LatentLoss::kGroupKl || model.latent_loss == LatentLoss::kMse;
  Require(compares, &errors, {"model.latent_loss", "model.family"},
          absl::StrCat("belongs to family muzero; got ",
                       model.latent_loss == LatentLoss::kNone ? "none" : "cosine",
                       " with family unizero; allowed: mse, group_kl"));
  return errors;
}

}  // namespace lzero
