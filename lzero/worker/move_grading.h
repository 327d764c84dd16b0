// Grades the moves of an agent in the positions of a game that can be judged exactly. One thread.
#ifndef LZERO_WORKER_MOVE_GRADING_H_
#define LZERO_WORKER_MOVE_GRADING_H_

#include <functional>

#include "absl/status/statusor.h"
#include "lzero/env/grader.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// The grade of what `evaluator` chooses, by its search or by its policy head alone. `stop` (may be
// null) is polled between batches of positions: Cancelled when it becomes true. Blocks for seconds.
absl::StatusOr<GradeReport> GradeMoves(const Grader& grader, bool with_search,
                                       const std::function<bool()>& stop, Evaluator* evaluator);

}  // namespace lzero

#endif  // LZERO_WORKER_MOVE_GRADING_H_
