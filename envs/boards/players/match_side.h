// One side of a match: chooses its moves in many games at once, one game at each table, and sees
// every move that is made. Players of a Board: opponent_side.h. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_MATCH_SIDE_H_
#define LZERO_ENVS_BOARDS_PLAYERS_MATCH_SIDE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/board.h"

namespace lzero {

// A game in which a side is to move.
struct MatchTurn {
  int table = 0;
  const Board* board = nullptr;
};

class MatchSide {
 public:
  virtual ~MatchSide() = default;

  // Game number `game` begins at `table`, in position `start`; the one before is over.
  virtual void BeginGame(int table, int64_t game, const Board& start) = 0;
  // At `table`, `action` of either side or of a random opening led to `board`.
  virtual void OnMove(int table, int action, const Board& board) = 0;
  // A legal action for each turn, in order. The boards are unfinished and this side is to move on
  // them. Cancelled when the side was told to stop; other errors are those of its model. Blocks.
  virtual absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_MATCH_SIDE_H_
