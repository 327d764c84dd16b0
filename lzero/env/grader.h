// The seam for exact grading of play: a Grader knows the perfect moves of one environment and
// judges any policy, the caller knows neither the game nor its rules. Obtained from
// EnvRegistry::MakeGrader. One thread at a time.
#ifndef LZERO_ENV_GRADER_H_
#define LZERO_ENV_GRADER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"

namespace lzero {

// The policy under test: one action for each position, in order. Every position is unfinished and
// carries observation, legal_action_mask, to_play and state. All positions come in one call: a
// policy that works in batches cuts them itself.
using BatchPolicy =
    std::function<absl::StatusOr<std::vector<int32_t>>(absl::Span<const TimeStep> positions)>;

// A position in which the policy gave something away.
struct Blunder {
  std::string position;  // readable, e.g. the moves or the board
  int32_t action = 0;
  std::vector<int32_t> optimal_actions;
  double value_lost = 0.0;  // game value of the best move less that of the played one, mover's view
};

// How many of some positions were played optimally.
struct GradeCounts {
  int64_t num_positions = 0;
  int64_t num_optimal = 0;
  // Only positions where some legal action is not optimal.
  int64_t num_nontrivial = 0;
  int64_t num_nontrivial_optimal = 0;

  double optimal_fraction() const {
    return num_positions == 0 ? 0.0 : static_cast<double>(num_optimal) / num_positions;
  }
};

// Positions at one stage of the game.
struct GradeGroup : GradeCounts {
  std::string name;  // "12 .. 15 stones"
};

// The counts are those of all positions.
struct GradeReport : GradeCounts {
  // The policy's actions played against every line of the opponent: lines that end in a loss. All 0
  // where the game is too large for that.
  int64_t num_lines_as_first = 0;
  int64_t num_lines_as_second = 0;
  int64_t lost_lines_as_first = 0;
  int64_t lost_lines_as_second = 0;
  std::vector<Blunder> blunders;   // every position that was not played optimally
  std::vector<GradeGroup> groups;  // the same positions, early ones first; empty: no such division

  bool has_lines() const { return num_lines_as_first + num_lines_as_second > 0; }
};

class Grader {
 public:
  virtual ~Grader() = default;

  // Grades `policy` over every reachable unfinished position, or over a fixed sample of them where
  // there are too many. May block for seconds the first time. The policy's own error is passed on;
  // InvalidArgument names a position with an illegal action or a wrong number of actions.
  virtual absl::StatusOr<GradeReport> Grade(const BatchPolicy& policy) const = 0;
};

}  // namespace lzero

#endif  // LZERO_ENV_GRADER_H_
