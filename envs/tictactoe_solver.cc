#include "envs/tictactoe_solver.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumSquares = TicTacToe::kNumSquares;

uint32_t Key(const TicTacToeBoard& board) {
  return static_cast<uint32_t>(board.stones[0]) << 9 | board.stones[1];
}

// The policy's move in every unfinished position.
using MoveTable = std::unordered_map<uint32_t, int32_t>;

struct LineCount {
  int64_t all = 0;
  int64_t lost = 0;
};

// Follows the table for player `agent` and every legal move for the other.
void CountLines(const TicTacToeBoard& board, int agent, const MoveTable& moves, LineCount& count) {
  if (board.finished()) {
    ++count.all;
    if (board.winner() == 1 - agent) ++count.lost;
    return;
  }
  if (board.to_play() == agent) {
    CountLines(board.Play(moves.at(Key(board))), agent, moves, count);
    return;
  }
  for (int action = 0; action < kNumSquares; ++action) {
    if (board.legal(action)) CountLines(board.Play(action), agent, moves, count);
  }
}

void GradeMove(const TicTacToeSolver& solver, const TicTacToeBoard& board, int32_t action,
               GradeReport& report) {
  const std::vector<int32_t> optimal = solver.OptimalActions(board);
  const TimeStep step = board.ToTimeStep();
  const auto num_legal =
      std::count(step.legal_action_mask.begin(), step.legal_action_mask.end(), 1);
  const bool nontrivial = static_cast<int64_t>(optimal.size()) < num_legal;
  const bool is_optimal = std::find(optimal.begin(), optimal.end(), action) != optimal.end();
  ++report.num_positions;
  if (nontrivial) ++report.num_nontrivial;
  if (is_optimal) {
    ++report.num_optimal;
    if (nontrivial) ++report.num_nontrivial_optimal;
    return;
  }
  const double lost = solver.Value(board) - solver.ActionValue(board, action);
  report.blunders.push_back({board.ToText(), action, optimal, lost});
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
    if (board.legal(action)) best = std::max(best, -Solve(board.Play(action)));
  }
  return values_[Key(board)] = best;
}

int TicTacToeSolver::Value(const TicTacToeBoard& board) const {
  const auto known = values_.find(Key(board));
  LZ_CHECK(known != values_.end(), "unreachable board\n", board.ToText());
  return known->second;
}

int TicTacToeSolver::ActionValue(const TicTacToeBoard& board, int action) const {
  return -Value(board.Play(action));
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

absl::StatusOr<GradeReport> GradeTicTacToe(const BatchPolicy& policy) {
  const TicTacToeSolver solver;
  const std::vector<TicTacToeBoard>& boards = solver.unfinished();
  std::vector<TimeStep> positions;
  positions.reserve(boards.size());
  for (const TicTacToeBoard& board : boards) positions.push_back(board.ToTimeStep());
  LZ_ASSIGN_OR_RETURN(const std::vector<int32_t> actions, policy(positions));
  if (actions.size() != boards.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the policy gave ", actions.size(),
                                                   " actions for ", boards.size(), " positions"));
  }
  GradeReport report;
  MoveTable moves;
  for (size_t i = 0; i < boards.size(); ++i) {
    if (!boards[i].legal(actions[i])) {
      return absl::InvalidArgumentError(absl::StrCat("the policy plays the illegal action ",
                                                     actions[i], " in position ", i, ":\n",
                                                     boards[i].ToText()));
    }
    moves[Key(boards[i])] = actions[i];
    GradeMove(solver, boards[i], actions[i], report);
  }
  LineCount first;
  LineCount second;
  CountLines({}, 0, moves, first);
  CountLines({}, 1, moves, second);
  report.num_lines_as_first = first.all;
  report.lost_lines_as_first = first.lost;
  report.num_lines_as_second = second.all;
  report.lost_lines_as_second = second.lost;
  return report;
}

}  // namespace lzero
