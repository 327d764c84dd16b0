// TicTacToe solved by looking at everything: the perfect value and the perfect moves of each of the
// 5,478 reachable positions, and the exact grade of a policy. For evaluation only; nothing that
// trains may use it. Immutable after construction, so any thread may read it.
#ifndef LZERO_ENVS_BOARDS_GRADING_TICTACTOE_SOLVER_H_
#define LZERO_ENVS_BOARDS_GRADING_TICTACTOE_SOLVER_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/boards/tictactoe.h"
#include "lzero/env/grader.h"

namespace lzero {

class TicTacToeSolver {
 public:
  TicTacToeSolver();

  int num_reachable() const { return static_cast<int>(values_.size()); }
  // The 4,520 reachable positions that are not over, in order of discovery (the empty board first).
  const std::vector<TicTacToeBoard>& unfinished() const { return unfinished_; }
  // With perfect play of both: 1, 0 or -1 for the player to move; -1 where the other has just won.
  // An unreachable board is our bug.
  int Value(const TicTacToeBoard& board) const;
  // Value of the board after `action` (legal), for the player who plays it.
  int ActionValue(const TicTacToeBoard& board, int action) const;
  // The legal actions with the best value; empty when the game is over.
  std::vector<int32_t> OptimalActions(const TicTacToeBoard& board) const;

 private:
  int Solve(const TicTacToeBoard& board);

  std::unordered_map<uint32_t, int> values_;
  std::vector<TicTacToeBoard> unfinished_;
};

// Grades a policy on all unfinished positions, and plays its moves as first and as second player
// against every line of the opponent.
class TicTacToeGrader : public Grader {
 public:
  absl::StatusOr<GradeReport> Grade(const BatchPolicy& policy) const override;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GRADING_TICTACTOE_SOLVER_H_
