#include "lzero/mcts/output_check.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/lanes.h"

namespace lzero {

namespace {

// The sum of x * 0 is 0 unless an x is infinite or not a number.
bool AllFinite(absl::Span<const float> numbers) {
  Float4 sums = Fill(0.0f);
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) sums += Load(numbers.data() + i) * 0.0f;
  float sum = SumLanes(sums)[0];
  for (; i < numbers.size(); ++i) sum += numbers[i] * 0.0f;
  return sum == 0.0f;
}

// Finite numbers and -infinity, one finite at least.
bool AreLogits(absl::Span<const float> row) {
  Float4 sums = Fill(0.0f);
  Float4 peaks = Fill(-kInfinity);
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    const Float4 logits = Load(row.data() + i);
    sums += Choose(logits == Fill(-kInfinity), Fill(0.0f), logits * 0.0f);
    peaks = Max(logits, peaks);
  }
  float sum = SumLanes(sums)[0];
  float peak = MaxLanes(peaks)[0];
  for (; i < row.size(); ++i) {
    sum += row[i] == -kInfinity ? 0.0f : row[i] * 0.0f;
    peak = Max(row[i], peak);
  }
  return sum == 0.0f && peak > -kInfinity;
}

// Which node of which root numbers are about; `leaf` is null at the root.
std::string PlaceOf(const Root& root, int node, const Leaf* leaf) {
  return absl::StrCat(
      "environment ", root.env.value, ", node ", node,
      leaf == nullptr ? std::string(" (the root)")
                      : absl::StrCat(" (parent ", leaf->parent, ", action ", leaf->action, ")"));
}

absl::Status LogitError(float logit, size_t action, const std::string& place) {
  return absl::InternalError(absl::StrCat(
      "the model returned prior logit ", logit, " of action ", action, " for ", place,
      "; only finite numbers can be searched, and -inf for an action that is not there"));
}

// One number a root; `leaves` is empty at the roots.
absl::Status CheckNumbers(const char* name, absl::Span<const float> numbers,
                          absl::Span<const Root> roots, int node, absl::Span<const Leaf> leaves) {
  if (AllFinite(numbers)) [[likely]]
    return absl::OkStatus();
  size_t b = 0;
  while (std::isfinite(numbers[b])) ++b;
  return absl::InternalError(
      absl::StrCat("the model returned ", name, " ", numbers[b], " for ",
                   PlaceOf(roots[b], node, leaves.empty() ? nullptr : &leaves[b]),
                   "; only finite numbers can be searched"));
}

}  // namespace

absl::Status CheckRootOutputs(absl::Span<const Root> roots, absl::Span<const uint8_t> legal,
                              const ModelOutputs& outputs) {
  LZ_RETURN_IF_ERROR(CheckNumbers("value", outputs.values, roots, 0, {}));
  const auto& logits = outputs.prior_logits;
  if (AllFinite(logits)) [[likely]]
    return absl::OkStatus();
  const size_t width = logits.size() / roots.size();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i]) || (logits[i] == -kInfinity && legal[i] == 0)) continue;
    return LogitError(logits[i], i % width, PlaceOf(roots[i / width], 0, nullptr));
  }
  return absl::OkStatus();
}

absl::Status CheckStepOutputs(absl::Span<const Root> roots, int node, absl::Span<const Leaf> leaves,
                              const ModelOutputs& outputs) {
  LZ_RETURN_IF_ERROR(CheckNumbers("reward", outputs.rewards, roots, node, leaves));
  LZ_RETURN_IF_ERROR(CheckNumbers("discount", outputs.discounts, roots, node, leaves));
  LZ_RETURN_IF_ERROR(CheckNumbers("value", outputs.values, roots, node, leaves));
  if (AllFinite(outputs.prior_logits)) [[likely]]
    return absl::OkStatus();
  const size_t width = outputs.prior_logits.size() / roots.size();
  for (size_t b = 0; b < roots.size(); ++b) {
    const auto row = outputs.prior_logits.subspan(b * width, width);
    if (AreLogits(row)) continue;
    const std::string place = PlaceOf(roots[b], node, &leaves[b]);
    for (size_t a = 0; a < width; ++a) {
      if (!std::isfinite(row[a]) && row[a] != -kInfinity) return LogitError(row[a], a, place);
    }
    return absl::InternalError(absl::StrCat("the model returned prior logits of -inf for all ",
                                            width, " actions of ", place,
                                            "; at least one action must be there"));
  }
  return absl::OkStatus();
}

}  // namespace lzero
