#include "envs/boards/chess/evaluation.h"

#include <algorithm>
#include <array>

namespace lzero::chess {
namespace {

constexpr std::array<int, kNumKinds + 1> kPieceValues = {100, 320, 330, 500, 900, 0, 0};
constexpr int kMaxCaptures = 8;  // in a row
constexpr int kInfinity = 1 << 20;

// What a place adds for white: pawns go forward in the middle, pieces to the middle, rooks to the
// seventh rank; the king stays at home, and goes to the middle in an endgame.
constexpr int PlaceBonus(Kind kind, int square, bool endgame) {
  const int rank = RankOf(square), file = FileOf(square);
  const int from_side = std::min(file, 7 - file);                // 0 .. 3
  const int centrality = std::min({from_side, rank, 7 - rank});  // 0 .. 3
  switch (kind) {
    case kPawn:
      return (rank - 1) * (endgame ? 12 : 2 + 3 * from_side);
    case kKnight:
      return 14 * centrality - 20;
    case kBishop:
      return 7 * centrality - 10;
    case kRook:
      return rank == 6 ? 20 : 3 * from_side;
    case kQueen:
      return 3 * centrality;
    default:
      return endgame ? 14 * centrality : -15 * (rank + from_side) + (rank == 0 ? 20 : 0);
  }
}

// [endgame][kind][square]
constexpr auto kPlaceValues = [] {
  std::array<std::array<std::array<int16_t, kNumSquares>, kNumKinds>, 2> values = {};
  for (int endgame = 0; endgame < 2; ++endgame) {
    for (int kind = 0; kind < kNumKinds; ++kind) {
      for (int square = 0; square < kNumSquares; ++square) {
        values[endgame][kind][square] = static_cast<int16_t>(
            kPieceValues[kind] + PlaceBonus(static_cast<Kind>(kind), square, endgame != 0));
      }
    }
  }
  return values;
}();

// Alpha-beta over captures alone; the player to move may always stop.
int ValueOfCaptures(const Position& position, int alpha, int beta, int num_left) {
  const int stop = PlaceValue(position);
  alpha = std::max(alpha, stop);
  if (alpha >= beta || num_left == 0) return stop;
  MoveList captures;
  position.ListMoves(position.colors[1 - position.to_play], &captures);
  std::sort(captures.begin(), captures.end(), [&position](Move a, Move b) {
    return CaptureValue(position, a) > CaptureValue(position, b);
  });
  int best = stop;
  for (const Move move : captures) {
    Position next = position;
    next.Play(move);
    best = std::max(best, -ValueOfCaptures(next, -beta, -alpha, num_left - 1));
    alpha = std::max(alpha, best);
    if (alpha >= beta) break;
  }
  return best;
}

}  // namespace

int PlaceValue(const Position& position) {
  const auto& values = kPlaceValues[position.kinds[kQueen] == 0 ? 1 : 0];
  int value = 0;
  for (int kind = 0; kind < kNumKinds; ++kind) {
    for (const int color : {kWhite, kBlack}) {
      Squares pieces = position.Pieces(color, static_cast<Kind>(kind));
      while (pieces != 0) {
        const int square = TakeSquare(pieces);
        value += color == kWhite ? values[kind][square] : -values[kind][Flipped(square)];
      }
    }
  }
  return position.to_play == kWhite ? value : -value;
}

int QuietValue(const Position& position) {
  return ValueOfCaptures(position, -kInfinity, kInfinity, kMaxCaptures);
}

int CaptureValue(const Position& position, Move move) {
  const int gained = kPieceValues[position.KindAt(move.to)] + kPieceValues[move.promotion];
  return gained == 0 ? 0 : 16 * gained - kPieceValues[position.KindAt(move.from)];
}

}  // namespace lzero::chess
