#include "envs/boards/chess/position.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace lzero::chess {
namespace {

constexpr int kA1 = 0, kE1 = 4, kH1 = 7, kA8 = 56, kE8 = 60, kH8 = 63;
constexpr Squares kLightSquares = 0x55aa55aa55aa55aa;

// One way to castle: where king and rook stand, and what must be empty between them.
struct Castling {
  Position::Right right;
  int king, rook;
  Squares between;
};
constexpr std::array<Castling, 4> kCastlings = {{
    {Position::kWhiteShort, kE1, kH1, Bit(5) | Bit(6)},
    {Position::kWhiteLong, kE1, kA1, Bit(1) | Bit(2) | Bit(3)},
    {Position::kBlackShort, kE8, kH8, Bit(61) | Bit(62)},
    {Position::kBlackLong, kE8, kA8, Bit(57) | Bit(58) | Bit(59)},
}};

// [square] The rights that are left when something moves from or to it.
constexpr auto kRightsLeft = internal::ForEachSquare([](int square) {
  uint8_t left = 15;
  for (const Castling& castling : kCastlings) {
    if (square == castling.king || square == castling.rook) left &= ~castling.right;
  }
  return left;
});

void AddAll(int from, Squares targets, MoveList* list) {
  while (targets != 0) list->Add({static_cast<uint8_t>(from), TakeSquare(targets)});
}

}  // namespace

Kind Position::KindAt(int square) const {
  for (int kind = kPawn; kind < kNumKinds; ++kind) {
    if ((kinds[kind] & Bit(square)) != 0) return static_cast<Kind>(kind);
  }
  return kNoKind;
}

Squares Position::AttackersOf(int square, int color, Squares occupied) const {
  return colors[color] &
         ((kPawnAttacks[1 - color][square] & kinds[kPawn]) |
          (kKnightAttacks[square] & kinds[kKnight]) | (kKingAttacks[square] & kinds[kKing]) |
          (BishopAttacks(square, occupied) & (kinds[kBishop] | kinds[kQueen])) |
          (RookAttacks(square, occupied) & (kinds[kRook] | kinds[kQueen])));
}

// Pieces of the mover that alone keep his king from being attacked.
Squares Position::PinnedPieces() const {
  const int king = KingOf(to_play);
  const Squares other = colors[1 - to_play];
  // Attackers as if he had no other piece.
  Squares attackers = other & ((BishopAttacks(king, other) & (kinds[kBishop] | kinds[kQueen])) |
                               (RookAttacks(king, other) & (kinds[kRook] | kinds[kQueen])));
  Squares pinned = 0;
  while (attackers != 0) {
    const Squares between = Between(king, TakeSquare(attackers)) & colors[to_play];
    if (std::has_single_bit(between)) pinned |= between;
  }
  return pinned;
}

void Position::ListMoves(Squares targets, MoveList* list) const {
  targets &= ~colors[to_play];
  ListKingMoves(targets, list);
  // Others must take a piece that gives check, or go between; of two at once they cannot.
  const int king = KingOf(to_play);
  const Squares occupied = this->occupied();
  const Squares checkers = AttackersOf(king, 1 - to_play, occupied);
  Squares allowed = targets;
  if (checkers != 0) {
    if (!std::has_single_bit(checkers)) return;
    allowed &= checkers | Between(king, std::countr_zero(checkers));
  }
  // A pinned piece stays on the line to its king.
  const Squares pinned = PinnedPieces();
  for (int kind = kPawn; kind < kKing; ++kind) {
    Squares pieces = Pieces(to_play, static_cast<Kind>(kind));
    while (pieces != 0) {
      const int from = TakeSquare(pieces);
      const bool is_pinned = (pinned & Bit(from)) != 0;
      const Squares here = is_pinned ? allowed & LineThrough(king, from) : allowed;
      if (kind == kPawn) {
        ListPawnMoves(from, here, list);
      } else {
        AddAll(from, PieceAttacks(static_cast<Kind>(kind), from, occupied) & here, list);
      }
    }
  }
  if (en_passant != kNoSquare && (targets & Bit(en_passant)) != 0) ListEnPassant(list);
}

void Position::ListKingMoves(Squares targets, MoveList* list) const {
  const int king = KingOf(to_play);
  const Squares others = occupied() & ~Bit(king);
  const auto is_safe = [&](int square) { return AttackersOf(square, 1 - to_play, others) == 0; };
  for (Squares rest = kKingAttacks[king] & targets; rest != 0;) {
    const uint8_t to = TakeSquare(rest);
    if (is_safe(to)) list->Add({static_cast<uint8_t>(king), to});
  }
  for (const Castling& castling : kCastlings) {
    if ((castling.right & this->castling) == 0 || castling.king != king) continue;
    const auto to = static_cast<uint8_t>(castling.rook > king ? king + 2 : king - 2);
    if ((castling.between & others) != 0 || (targets & Bit(to)) == 0 || !is_safe(king)) continue;
    if (is_safe((king + to) / 2) && is_safe(to)) list->Add({static_cast<uint8_t>(king), to});
  }
}

void Position::ListPawnMoves(int from, Squares allowed, MoveList* list) const {
  const Squares free = ~occupied();
  const auto ahead = [this](Squares squares) {
    return to_play == kWhite ? squares << 8 : squares >> 8;
  };
  const Squares one = ahead(Bit(from)) & free;
  const Squares two = ahead(one & Rank(to_play == kWhite ? 2 : 5)) & free;
  Squares targets = (one | two | (kPawnAttacks[to_play][from] & colors[1 - to_play])) & allowed;
  if ((targets & (Rank(0) | Rank(7))) == 0) return AddAll(from, targets, list);
  while (targets != 0) {
    const uint8_t to = TakeSquare(targets);
    for (const Kind kind : {kQueen, kRook, kBishop, kKnight}) {
      list->Add({static_cast<uint8_t>(from), to, kind});
    }
  }
}

// Two pawns leave a rank at once: whether that opens a line to the king is seen by trying.
void Position::ListEnPassant(MoveList* list) const {
  Squares pawns = kPawnAttacks[1 - to_play][en_passant] & Pieces(to_play, kPawn);
  while (pawns != 0) {
    const Move move = {TakeSquare(pawns), en_passant};
    Position next = *this;
    next.Play(move);
    if (next.AttackersOf(KingOf(to_play), 1 - to_play, next.occupied()) == 0) list->Add(move);
  }
}

void Position::Play(Move move) {
  const int mover = to_play, other = 1 - mover;
  const Kind kind = KindAt(move.from);
  const bool takes = (colors[other] & Bit(move.to)) != 0;
  for (Squares& squares : kinds) squares &= ~(Bit(move.from) | Bit(move.to));
  colors[other] &= ~Bit(move.to);
  colors[mover] ^= Bit(move.from) | Bit(move.to);
  kinds[move.promotion == kNoKind ? kind : move.promotion] |= Bit(move.to);
  // En passant: the pawn beside the start.
  if (kind == kPawn && move.to == en_passant) {
    kinds[kPawn] &= ~Bit(move.to ^ 8);
    colors[other] &= ~Bit(move.to ^ 8);
  }
  // Castling: the rook jumps over the king.
  if (kind == kKing && std::abs(move.to - move.from) == 2) {
    const Squares rook =
        Bit(move.to > move.from ? move.from + 3 : move.from - 4) | Bit((move.from + move.to) / 2);
    kinds[kRook] ^= rook;
    colors[mover] ^= rook;
  }
  en_passant = kNoSquare;
  if (kind == kPawn && std::abs(move.to - move.from) == 16) {
    const int middle = (move.from + move.to) / 2;
    const bool can_take = (kPawnAttacks[mover][middle] & Pieces(other, kPawn)) != 0;
    if (can_take) en_passant = static_cast<uint8_t>(middle);
  }
  castling &= kRightsLeft[move.from] & kRightsLeft[move.to];
  clock = takes || kind == kPawn ? 0 : static_cast<uint8_t>(clock + 1);
  if (mover == kBlack) ++move_number;
  to_play = static_cast<uint8_t>(other);
}

bool Position::LacksMaterial() const {
  if ((kinds[kPawn] | kinds[kRook] | kinds[kQueen]) != 0) return false;
  const Squares bishops = kinds[kBishop];
  if (kinds[kKnight] != 0) return std::has_single_bit(kinds[kKnight] | bishops);
  return (bishops & kLightSquares) == 0 || (bishops & ~kLightSquares) == 0;
}

uint64_t Position::Hash() const {
  uint64_t hash = uint64_t{to_play} | uint64_t{castling} << 8 | uint64_t{en_passant} << 16;
  // The finaliser of SplitMix64 between the words. [Steele, Lea, Flood 2014]
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) + 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  };
  for (const Squares squares : kinds) mix(squares);
  mix(colors[kWhite]);
  return hash;
}

std::string Position::Problem() const {
  Squares all = 0;
  int num_pieces = 0;
  for (const Squares squares : kinds) all |= squares, num_pieces += std::popcount(squares);
  const bool is_double = num_pieces != std::popcount(all) || (colors[kWhite] & colors[kBlack]) != 0;
  if (is_double || all != occupied()) return "a square holds two pieces, or half of one";
  for (const int color : {kWhite, kBlack}) {
    const char* const name = color == kWhite ? "white" : "black";
    const auto count = [&](Kind kind) { return std::popcount(Pieces(color, kind)); };
    if (count(kKing) != 1) return absl::StrCat(name, " has ", count(kKing), " kings");
    // Promoted pieces were pawns.
    int num_pawns = count(kPawn) + std::max(0, count(kQueen) - 1);
    for (const Kind kind : {kKnight, kBishop, kRook}) num_pawns += std::max(0, count(kind) - 2);
    if (num_pawns > 8) return absl::StrCat(name, " has more pieces than eight pawns can become");
  }
  if ((kinds[kPawn] & (Rank(0) | Rank(7))) != 0) return "a pawn is on the first or last rank";
  for (const Castling& way : kCastlings) {
    const int color = way.king == kE1 ? kWhite : kBlack;
    const bool at_home =
        (Pieces(color, kKing) & Bit(way.king)) != 0 && (Pieces(color, kRook) & Bit(way.rook)) != 0;
    if ((castling & way.right) != 0 && !at_home) {
      return "a king or rook that may castle is not where it began";
    }
  }
  if (en_passant != kNoSquare) {
    // The pawn in front of it came from behind it.
    const bool on_rank = RankOf(en_passant) == (to_play == kWhite ? 5 : 2);
    const Squares pawns = Pieces(1 - to_play, kPawn), empty = ~occupied();
    if (!on_rank || (pawns & Bit(en_passant ^ 8)) == 0 || (empty & Bit(en_passant)) == 0 ||
        (empty & Bit(en_passant ^ 24)) == 0) {
      return "no pawn can be taken en passant there";
    }
  }
  if (AttackersOf(KingOf(1 - to_play), to_play, occupied()) != 0) {
    return "the player who is not to move is in check";
  }
  return "";
}

}  // namespace lzero::chess
