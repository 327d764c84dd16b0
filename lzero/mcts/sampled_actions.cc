#include "lzero/mcts/sampled_actions.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

namespace {

absl::Status CheckSizes(const SampledActions& sampled, size_t num_roots, int num_slots) {
  if (sampled.num_slots != num_slots || sampled.action_dim < 0) {
    return absl::InternalError(absl::StrCat("the model samples ", sampled.num_slots, " actions of ",
                                            sampled.action_dim, " numbers for a search of ",
                                            num_slots, " slots"));
  }
  const size_t num_entries = num_roots * static_cast<size_t>(num_slots);
  const size_t num_indices = sampled.action_dim == 0 ? num_entries : 0;
  const size_t num_values = num_entries * static_cast<size_t>(sampled.action_dim);
  if (sampled.slot_mask.size() != num_entries || sampled.indices.size() != num_indices ||
      sampled.values.size() != num_values) {
    return absl::InternalError(absl::StrCat(
        "the model's sampled actions are ", sampled.slot_mask.size(), " slots, ",
        sampled.indices.size(), " indices and ", sampled.values.size(), " values; for ", num_roots,
        " roots they must be ", num_entries, ", ", num_indices, " and ", num_values));
  }
  return absl::OkStatus();
}

absl::Status CheckSlot(const SampledActions& sampled, size_t slot, const Root& root) {
  if (sampled.action_dim == 0) {
    if (sampled.indices[slot] >= 0) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("environment ", root.env.value,
                                            ": the model sampled action ", sampled.indices[slot],
                                            "; allowed: 0 or more"));
  }
  const size_t dim = static_cast<size_t>(sampled.action_dim);
  for (const float value : absl::MakeConstSpan(sampled.values).subspan(slot * dim, dim)) {
    if (value >= -1.0f && value <= 1.0f) continue;  // written so that a NaN is refused too
    return absl::InternalError(absl::StrCat("environment ", root.env.value,
                                            ": the model sampled an action with value ", value,
                                            "; allowed: -1 to 1"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSampledActions(const SampledActions& sampled, absl::Span<const Root> roots,
                                 int num_slots) {
  LZ_RETURN_IF_ERROR(CheckSizes(sampled, roots.size(), num_slots));
  const size_t width = static_cast<size_t>(num_slots);
  for (size_t b = 0; b < roots.size(); ++b) {
    bool any = false;
    for (size_t slot = b * width; slot < (b + 1) * width; ++slot) {
      if (sampled.slot_mask[slot] == 0) continue;
      any = true;
      LZ_RETURN_IF_ERROR(CheckSlot(sampled, slot, roots[b]));
    }
    if (any) continue;
    return absl::InternalError(absl::StrCat("environment ", roots[b].env.value, ", step ",
                                            roots[b].step,
                                            ": no slot holds an action at the root of a search; "
                                            "the model must sample at least one"));
  }
  return absl::OkStatus();
}

}  // namespace lzero
