#include "envs/boards/grading/grading.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

absl::StatusOr<std::vector<int32_t>> ChooseLegalActions(
    const BatchPolicy& policy, absl::Span<const TimeStep> positions,
    const std::function<std::string(size_t)>& text_of) {
  LZ_ASSIGN_OR_RETURN(std::vector<int32_t> actions, policy(positions));
  if (actions.size() != positions.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the policy gave ", actions.size(), " actions for ", positions.size(), " positions"));
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<uint8_t>& mask = positions[i].legal_action_mask;
    const bool in_range = actions[i] >= 0 && actions[i] < static_cast<int32_t>(mask.size());
    if (!in_range || mask[actions[i]] == 0) {
      return absl::InvalidArgumentError(absl::StrCat("the policy plays the illegal action ",
                                                     actions[i], " in position ", i, ":\n",
                                                     text_of(i)));
    }
  }
  return actions;
}

bool CountMove(const std::vector<int32_t>& optimal, absl::Span<const uint8_t> legal, int32_t action,
               GradeCounts* counts) {
  const bool is_nontrivial = static_cast<int64_t>(optimal.size()) < absl::c_count(legal, 1);
  const bool is_optimal = absl::c_linear_search(optimal, action);
  ++counts->num_positions;
  counts->num_optimal += is_optimal;
  counts->num_nontrivial += is_nontrivial;
  counts->num_nontrivial_optimal += is_nontrivial && is_optimal;
  return is_optimal;
}

Blunder* CountMove(const TimeStep& position, const std::vector<int32_t>& optimal, int32_t action,
                   GradeReport* report, GradeCounts* group) {
  const std::vector<uint8_t>& mask = position.legal_action_mask;
  if (group != nullptr) CountMove(optimal, mask, action, group);
  if (CountMove(optimal, mask, action, static_cast<GradeCounts*>(report))) return nullptr;
  report->blunders.push_back({"", action, optimal, 0.0});
  return &report->blunders.back();
}

}  // namespace lzero
