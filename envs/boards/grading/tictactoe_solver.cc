#include "envs/boards/grading/tictactoe_solver.h"

#include <algorithm>

#include "envs/boards/board_env.h"
#include "envs/boards/grading/grading.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumSquares = TicTacToeBoard::kNumSquares;

uint32_t Key(const TicTacToeBoard& board) {
  return static_cast<uint32_t>(board.stones[0]) << 9 | board.stones[1];
}

// The policy's move in every unfinished position.
using MoveTable = std::unordered_map<uint32_t, int32_t>;

// Follows the table for player `agent` and every legal move for the other.
void CountLines(const TicTacToeBoard& board, int agent, const MoveTable& moves, int64_t& all,
                int64_t& lost) {
  if (board.finished()) {
    ++all;
    if (board.winner() == 1 - agent) ++lost;
    return;
  }
  if (board.to_play() == agent) {
    CountLines(board.After(moves.at(Key(board))), agent, moves, all, lost);
    return;
  }
  for (int action = 0; action < kNumSquares; ++action) {
    if (board.legal(action)) CountLines(board.After(action), agent, moves, all, lost);
  }
}

}  // namespace

TicTacToeSolver::TicTacToeSolver() { Solve(TicTacToeBoard()); }

int TicTacToeSolver::Solve(const TicTacToeBoard& board) {
  const auto known = values_.find(Key(board));
  if (known != values_.end()) return known->second;
  if (board.finished()) {
    // Only the player who moved last can have a line.
    return values_[Key(board)] = board.winner() >= 0 ? -1 : 0;
  }
  unfinished_.push_back(board);
  int best = -1;
  for (int action = 0; action < kNumSquares; ++action) {
    if (board.legal(action)) best = std::max(best, -Solve(board.After(action)));
  }
  return values_[Key(board)] = best;
}

int TicTacToeSolver::Value(const TicTacToeBoard& board) const {
  const auto known = values_.find(Key(board));
  LZ_CHECK(known != values_.end(), "unreachable board\n", board.ToText());
  return known->second;
}

int TicTacToeSolver::ActionValue(const TicTacToeBoard& board, int action) const {
  return -Value(board.After(action));
}

std::vector<int32_t> TicTacToeSolver::OptimalActions(const TicTacToeBoard& board) const {
  std::vector<int32_t> optimal;
  for (int action = 0; action < kNumSquares; ++action) {
    if (board.legal(action) && ActionValue(board, action) == Value(board)) {
      optimal.push_back(action);
    }
  }
  return optimal;
}

absl::StatusOr<GradeReport> TicTacToeGrader::Grade(const BatchPolicy& policy) const {
  const TicTacToeSolver solver;
  const std::vector<TicTacToeBoard>& boards = solver.unfinished();
  // The move of the policy at every unfinished board.
  std::vector<TimeStep> positions;
  positions.reserve(boards.size());
  for (const TicTacToeBoard& board : boards) {
    positions.push_back(TimeStepOf(board, 3 * kNumSquares));
    positions.back().state = StateOf(board, "tictactoe");
  }
  LZ_ASSIGN_OR_RETURN(
      const std::vector<int32_t> actions,
      ChooseLegalActions(policy, positions, [&](size_t i) { return boards[i].ToText(); }));
  // Each move against the solver.
  GradeReport report;
  MoveTable moves;
  for (size_t i = 0; i < boards.size(); ++i) {
    moves[Key(boards[i])] = actions[i];
    const std::vector<int32_t> optimal = solver.OptimalActions(boards[i]);
    Blunder* blunder = CountMove(positions[i], optimal, actions[i], &report);
    if (blunder == nullptr) continue;
    blunder->position = boards[i].ToText();
    blunder->value_lost = solver.Value(boards[i]) - solver.ActionValue(boards[i], actions[i]);
  }
  // All lines that the policy plays as first and as second player.
  CountLines({}, 0, moves, report.num_lines_as_first, report.lost_lines_as_first);
  CountLines({}, 1, moves, report.num_lines_as_second, report.lost_lines_as_second);
  return report;
}

}  // namespace lzero
