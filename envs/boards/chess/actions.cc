#include "envs/boards/chess/actions.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "envs/boards/chess/fen.h"

namespace lzero::chess {
namespace {

// [from][to]
constexpr auto kPlainActions = [] {
  std::array<std::array<int16_t, kNumSquares>, kNumSquares> actions = {};
  int16_t next = 0;
  for (int from = 0; from < kNumSquares; ++from) {
    const Squares targets = PieceAttacks(kQueen, from, 0) | kKnightAttacks[from];
    for (int to = 0; to < kNumSquares; ++to) {
      if ((targets & Bit(to)) != 0) actions[from][to] = next++;
    }
  }
  return actions;
}();
static_assert(kPlainActions[63][62] == kNumPlainActions - 1);

}  // namespace

int ActionOf(Move move, int color) {
  const int flip = color == kWhite ? 0 : Flipped(0);
  const int from = move.from ^ flip, to = move.to ^ flip;
  if (move.promotion == kNoKind || move.promotion == kQueen) {
    return kPlainActions[from][to];
  }
  // The first pawn cannot take to its left.
  const int pawn_move = 3 * FileOf(from) + (to - from - 8);
  return kNumPlainActions + 3 * pawn_move + (move.promotion - kKnight);
}

std::string MoveText(Move move) {
  constexpr const char* kPromotions[] = {"", "n", "b", "r", "q", "", ""};
  return absl::StrCat(SquareName(move.from), SquareName(move.to), kPromotions[move.promotion]);
}

}  // namespace lzero::chess
