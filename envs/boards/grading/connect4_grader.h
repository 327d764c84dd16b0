// Grades a policy of Connect Four on a fixed sample of positions with 12 and more stones, each
// reached by random moves and solved exactly. A move is optimal when it keeps the value of the game
// (win, draw or loss), however long that takes. The report is divided by the number of stones. For
// evaluation only. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_GRADING_CONNECT4_GRADER_H_
#define LZERO_ENVS_BOARDS_GRADING_CONNECT4_GRADER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/boards/connect4.h"
#include "lzero/env/grader.h"

namespace lzero {

// Position i has fewest_stones + i % (35 - fewest_stones) stones, 34 at most. All are unfinished
// and no two are equal or mirror images. The same for ever: grades of different runs can be
// compared.
std::vector<Connect4Board> Connect4Sample(int num_positions, int fewest_stones);

class Connect4Grader : public Grader {
 public:
  // The first Grade solves the positions, which takes some seconds for these numbers.
  explicit Connect4Grader(int num_positions = 1000, int fewest_stones = 12)
      : num_positions_(num_positions), fewest_stones_(fewest_stones) {}

  absl::StatusOr<GradeReport> Grade(const BatchPolicy& policy) const override;

 private:
  struct SolvedPosition {
    Connect4Board board;
    std::vector<int32_t> optimal_actions;
  };

  const std::vector<SolvedPosition>& positions() const;

  int num_positions_;
  int fewest_stones_;
  mutable std::vector<SolvedPosition> positions_;  // empty before the first Grade
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GRADING_CONNECT4_GRADER_H_
