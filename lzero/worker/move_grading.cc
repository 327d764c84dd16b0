#include "lzero/worker/move_grading.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lzero/base/status_macros.h"

namespace lzero {

absl::StatusOr<GradeReport> GradeMoves(const Grader& grader, bool with_search,
                                       const std::function<bool()>& stop, Evaluator* evaluator) {
  constexpr size_t kAtOnce = 64;
  using Actions = std::vector<int32_t>;
  return grader.Grade([&](absl::Span<const TimeStep> positions) -> absl::StatusOr<Actions> {
    Actions actions;
    for (size_t begin = 0; begin < positions.size(); begin += kAtOnce) {
      if (stop && stop()) return absl::CancelledError("interrupted");
      LZ_ASSIGN_OR_RETURN(const Actions chosen,
                          evaluator->ChooseActions(positions.subspan(begin, kAtOnce), with_search));
      actions.insert(actions.end(), chosen.begin(), chosen.end());
    }
    return actions;
  });
}

}  // namespace lzero
