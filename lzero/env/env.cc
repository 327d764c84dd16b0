#include "lzero/env/env.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

namespace lzero {

void MakeAction(const ActionSpec& spec, int32_t index, absl::Span<const float> values,
                Action* action) {
  action->index = index;
  if (spec.kind == ActionKind::kDiscrete) return;
  LZ_CHECK(values.size() == spec.low.size(), values.size(), " numbers for an action of ",
           spec.low.size());
  action->values.resize(values.size());
  for (size_t d = 0; d < values.size(); ++d) {
    // Halves first: the bounds may be so large that their difference overflows.
    const float middle = 0.5f * spec.low[d] + 0.5f * spec.high[d];
    const float half = 0.5f * spec.high[d] - 0.5f * spec.low[d];
    action->values[d] = std::clamp(middle + half * values[d], spec.low[d], spec.high[d]);
  }
}

absl::Status Env::Cannot(absl::string_view what) const {
  return absl::UnimplementedError(absl::StrCat("environment '", spec().id, "' cannot ", what));
}

}  // namespace lzero
