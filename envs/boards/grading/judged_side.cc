#include "envs/boards/grading/judged_side.h"

#include <memory>

#include "envs/boards/grading/connect4_solver.h"
#include "envs/boards/grading/grading.h"
#include "envs/boards/grading/tictactoe_solver.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kFewestStones = 12;  // of Connect Four: with fewer the solver takes seconds

}  // namespace

MoveJudge MakeMoveJudge(const std::string& env_id) {
  if (env_id == "connect4") {
    return [solver = std::make_shared<Connect4Solver>()](const Board& board) {
      const auto& own = dynamic_cast<const Connect4Board&>(board);
      return own.num_stones() < kFewestStones ? std::vector<int32_t>()
                                              : solver->OptimalActions(own);
    };
  }
  if (env_id == "tictactoe") {
    return [solver = std::make_shared<TicTacToeSolver>()](const Board& board) {
      return solver->OptimalActions(dynamic_cast<const TicTacToeBoard&>(board));
    };
  }
  return nullptr;
}

absl::StatusOr<std::vector<int>> JudgedSide::ChooseActions(absl::Span<const MatchTurn> turns) {
  LZ_ASSIGN_OR_RETURN(std::vector<int> actions, side_.ChooseActions(turns));
  for (size_t i = 0; i < turns.size(); ++i) {
    const std::vector<int32_t> optimal = judge_(*turns[i].board);
    if (optimal.empty()) continue;
    std::vector<uint8_t> legal(static_cast<size_t>(turns[i].board->num_actions()));
    turns[i].board->FillLegalActions(absl::MakeSpan(legal));
    CountMove(optimal, legal, actions[i], &counts_);
  }
  return actions;
}

}  // namespace lzero
