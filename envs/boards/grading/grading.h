// What the graders of all board games share: asking a policy and counting its moves against known
// best ones. It knows no game. Pure functions, any thread.
#ifndef LZERO_ENVS_BOARDS_GRADING_GRADING_H_
#define LZERO_ENVS_BOARDS_GRADING_GRADING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/grader.h"

namespace lzero {

// The policy's action for each position. Its own error is passed on; InvalidArgument for a wrong
// number of actions and for an illegal one, with text_of(i) of that position.
absl::StatusOr<std::vector<int32_t>> ChooseLegalActions(
    const BatchPolicy& policy, absl::Span<const TimeStep> positions,
    const std::function<std::string(size_t)>& text_of);

// Counts one move where `legal` [A] are 1 and `optimal` the best ones; whether it is one of them.
bool CountMove(const std::vector<int32_t>& optimal, absl::Span<const uint8_t> legal, int32_t action,
               GradeCounts* counts);

// Counts one move in `report`, and in `group` if there is one: `action` where `optimal` are the
// best ones of the position. Returns the entry of a blunder, for the caller to fill in its position
// and what was lost; else null.
Blunder* CountMove(const TimeStep& position, const std::vector<int32_t>& optimal, int32_t action,
                   GradeReport* report, GradeCounts* group = nullptr);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GRADING_GRADING_H_
