#include "lzero/mcts/output_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

namespace {

// Without branches: compilers vectorise it.
bool AllFinite(absl::Span<const float> numbers) {
  constexpr uint32_t kExponent = 0x7f800000;  // all ones: infinite, or not a number
  uint32_t has_other = 0;
  for (const float number : numbers) {
    has_other |= (std::bit_cast<uint32_t>(number) & kExponent) == kExponent;
  }
  return has_other == 0;
}

// Finite numbers and -infinity, one finite at least.
bool AreLogits(absl::Span<const float> row) {
  bool has_finite = false;
  for (const float logit : row) {
    if (!std::isfinite(logit) && logit != -kInfinity) return false;
    has_finite = has_finite || logit != -kInfinity;
  }
  return has_finite;
}

bool AreAllMissing(absl::Span<const float> row) {
  return std::all_of(row.begin(), row.end(), [](float logit) { return logit == -kInfinity; });
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

// What is wrong with a row whose first `num_entries` belong to the node.
absl::Status RowError(absl::Span<const float> row, size_t num_entries, const char* entries,
                      const std::string& place) {
  for (size_t a = 0; a < num_entries; ++a) {
    if (!std::isfinite(row[a]) && row[a] != -kInfinity) return LogitError(row[a], a, place);
  }
  for (size_t a = num_entries; a < row.size(); ++a) {
    if (row[a] == -kInfinity) continue;
    return absl::InternalError(absl::StrCat("the model returned prior logit ", row[a], " at ", a,
                                            " for ", place, ", which has ", num_entries, " ",
                                            entries, "; behind them a row must be -inf"));
  }
  return absl::InternalError(absl::StrCat("the model returned prior logits of -inf for all ",
                                          num_entries, " ", entries, " of ", place,
                                          "; at least one must be there"));
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
                              const RowEntries& entries, const ModelOutputs& outputs) {
  LZ_RETURN_IF_ERROR(CheckNumbers("reward", outputs.rewards, roots, node, leaves));
  LZ_RETURN_IF_ERROR(CheckNumbers("discount", outputs.discounts, roots, node, leaves));
  LZ_RETURN_IF_ERROR(CheckNumbers("value", outputs.values, roots, node, leaves));
  const bool has_chance = entries.num_chance_outcomes > 0;
  if (!has_chance && AllFinite(outputs.prior_logits)) [[likely]]
    return absl::OkStatus();
  const size_t width = outputs.prior_logits.size() / roots.size();
  for (size_t b = 0; b < roots.size(); ++b) {
    const auto row = outputs.prior_logits.subspan(b * width, width);
    // The children of decisions, which have even depths, are chance nodes.
    const bool is_chance = has_chance && leaves[b].depth % 2 == 1;
    const size_t num_entries =
        static_cast<size_t>(is_chance ? entries.num_chance_outcomes : entries.num_actions);
    const auto rest = row.subspan(num_entries);
    if (AreLogits(row.first(num_entries)) && AreAllMissing(rest)) [[likely]]
      continue;
    return RowError(row, num_entries, is_chance ? "outcomes" : "actions",
                    PlaceOf(roots[b], node, &leaves[b]));
  }
  return absl::OkStatus();
}

}  // namespace lzero
