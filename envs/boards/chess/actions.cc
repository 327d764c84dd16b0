#include "envs/boards/chess/actions.h"

#include <algorithm>
#include <array>
#include <cstdlib>

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

constexpr int kLongestMove = 7;  // squares of a queen
constexpr int kNumQueenKinds = 8 * kLongestMove, kNumKnightKinds = 8;

// A queen's or knight's move that goes so far.
int PlainKind(int up, int right) {
  constexpr int kDirections[3][3] = {{5, 4, 3}, {6, -1, 2}, {7, 0, 1}};  // [up + 1][right + 1]
  constexpr int kKnightDirections[5][5] = {{-1, 4, -1, 3, -1},
                                           {5, -1, -1, -1, 2},
                                           {-1, -1, -1, -1, -1},
                                           {6, -1, -1, -1, 1},
                                           {-1, 7, -1, 0, -1}};  // [up + 2][right + 2]
  const int length = std::max(std::abs(up), std::abs(right));
  if (up * right != 0 && std::abs(up) != std::abs(right)) {
    return kNumQueenKinds + kKnightDirections[up + 2][right + 2];
  }
  return kDirections[up / length + 1][right / length + 1] * kLongestMove + length - 1;
}

}  // namespace

std::vector<int32_t> ActionPlaces() {
  std::vector<int32_t> places(kNumActions);
  for (uint8_t from = 0; from < kNumSquares; ++from) {
    for (uint8_t to = 0; to < kNumSquares; ++to) {
      const Squares targets = PieceAttacks(kQueen, from, 0) | kKnightAttacks[from];
      if ((targets & Bit(to)) == 0) continue;
      const int kind = PlainKind(RankOf(to) - RankOf(from), FileOf(to) - FileOf(from));
      places[ActionOf({from, to}, kWhite)] = kind * kNumSquares + from;
      const int step = to - from - 8;  // of a pawn
      if (RankOf(from) != 6 || RankOf(to) != 7 || std::abs(step) > 1) continue;
      for (const Kind piece : {kKnight, kBishop, kRook}) {
        const int promotion = kNumQueenKinds + kNumKnightKinds + 3 * (piece - kKnight) + step + 1;
        places[ActionOf({from, to, piece}, kWhite)] = promotion * kNumSquares + from;
      }
    }
  }
  return places;
}

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
