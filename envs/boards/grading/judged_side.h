// A side of a match whose moves are compared with perfect ones while it plays, where those are
// known: how well it plays in the positions that its games reach. One thread.
#ifndef LZERO_ENVS_BOARDS_GRADING_JUDGED_SIDE_H_
#define LZERO_ENVS_BOARDS_GRADING_JUDGED_SIDE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/players/match.h"
#include "lzero/env/grader.h"

namespace lzero {

// The moves of an unfinished board that keep the value of the game; empty: not known.
using MoveJudge = std::function<std::vector<int32_t>(const Board& board)>;

// Connect Four from 12 stones on, a few milliseconds a board, and TicTacToe; null for other games.
MoveJudge MakeMoveJudge(const std::string& env_id);

class JudgedSide : public MatchSide {
 public:
  // `side` must outlive the object.
  JudgedSide(MatchSide* side, MoveJudge judge) : side_(*side), judge_(std::move(judge)) {}

  void BeginGame(int table, int64_t game, const Board& start) override {
    side_.BeginGame(table, game, start);
  }
  void OnMove(int table, int action, const Board& board) override {
    side_.OnMove(table, action, board);
  }
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override;

  // The moves so far whose perfect ones are known.
  const GradeCounts& counts() const { return counts_; }

 private:
  MatchSide& side_;
  MoveJudge judge_;
  GradeCounts counts_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GRADING_JUDGED_SIDE_H_
