#include "envs/boards/grading/connect4_solver.h"

#include <algorithm>
#include <bit>

#include "lzero/base/check.h"

namespace lzero {
namespace {

using connect4::kColumns;
using connect4::kSquares;

constexpr int kMaxScore = kSquares / 2;

// The score of winning with the next stone, `num_stones` lying on the board.
constexpr int WinNow(int num_stones) { return (kSquares + 1 - num_stones) / 2; }
// That of the other winning with the stone after it.
constexpr int LossNext(int num_stones) { return -((kSquares - num_stones) / 2); }

// Bounds in a byte: lower ones and upper ones, none of them 0.
constexpr int kLowerZero = 64;
constexpr int kUpperZero = 192;

// Squares the mover may take without the other winning with the next stone; he cannot win himself.
uint64_t SafeMoves(uint64_t own, uint64_t occupied) {
  uint64_t moves = connect4::DropSquares(occupied);
  const uint64_t threats = connect4::FourthSquares(own ^ occupied) & ~occupied;
  const uint64_t forced = moves & threats;
  if (forced != 0) {
    if (!std::has_single_bit(forced)) return 0;
    moves = forced;
  }
  return moves & ~(threats >> 1);  // not below a threat
}

// Up to so many stones the replies are looked up in the table before one of them is searched.
constexpr int kFullestToLookAhead = 34;

constexpr std::array<int, kColumns> kColumnsFromTheMiddle = {3, 2, 4, 1, 5, 0, 6};

}  // namespace

Connect4Solver::Connect4Solver(int table_bits) : table_bits_(table_bits) {
  LZ_CHECK(table_bits >= 10 && table_bits <= 32, "a table of 2^", table_bits, " entries");
  table_.resize(size_t{1} << table_bits);
}

uint64_t Connect4Solver::KeyOf(const Position& position) {
  return position.own + position.occupied + connect4::kBottomRow;
}

size_t Connect4Solver::SlotOf(uint64_t key) const {
  return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> (64 - table_bits_));
}

void Connect4Solver::Recall(uint64_t key, int* alpha, int* beta) const {
  const uint64_t entry = table_[SlotOf(key)];
  if (entry >> 8 != key) return;
  const int code = static_cast<int>(entry & 0xff);
  if (code >= kUpperZero - kMaxScore) {
    *beta = std::min(*beta, code - kUpperZero);
  } else {
    *alpha = std::max(*alpha, code - kLowerZero);
  }
}

void Connect4Solver::Remember(uint64_t key, int score, bool is_lower_bound) {
  const int code = score + (is_lower_bound ? kLowerZero : kUpperZero);
  table_[SlotOf(key)] = key << 8 | static_cast<uint64_t>(code);
}

Connect4Solver::MoveList Connect4Solver::OrderedMoves(const Position& position, uint64_t moves) {
  MoveList list;
  std::array<int, kColumns> merits;
  for (const int column : kColumnsFromTheMiddle) {
    const uint64_t square = moves & connect4::Column(column);
    if (square == 0) continue;
    // More squares that would win later are better.
    const uint64_t threats = connect4::FourthSquares(position.own | square) & ~position.occupied;
    const int merit = std::popcount(threats);
    int place = list.size++;
    for (; place > 0 && merits[place - 1] < merit; --place) {
      merits[place] = merits[place - 1];
      list.squares[place] = list.squares[place - 1];
    }
    merits[place] = merit;
    list.squares[place] = square;
  }
  return list;
}

int Connect4Solver::Search(const Position& position, int alpha, int beta) {
  ++num_positions_;
  const int num_stones = position.num_stones;
  const uint64_t moves = SafeMoves(position.own, position.occupied);
  if (moves == 0) return LossNext(num_stones);
  if (num_stones >= kSquares - 2) return 0;  // nobody can win with the stones that are left
  // Neither wins within two plies.
  alpha = std::max(alpha, LossNext(num_stones + 2));
  beta = std::min(beta, WinNow(num_stones + 2));
  if (alpha >= beta) return alpha;
  // Bounds that were stored for this position.
  const uint64_t key = KeyOf(position);
  Recall(key, &alpha, &beta);
  if (alpha >= beta) return alpha;

  const uint64_t other = position.own ^ position.occupied;
  const MoveList list = OrderedMoves(position, moves);
  // A stored bound of a next position may end the search.
  if (num_stones < kFullestToLookAhead) {
    for (int i = 0; i < list.size; ++i) {
      int low = -kMaxScore;
      int high = kMaxScore;
      Recall(KeyOf({other, position.occupied | list.squares[i], 0}), &low, &high);
      if (-high >= beta) return -high;
    }
  }
  for (int i = 0; i < list.size; ++i) {
    const Position next = {other, position.occupied | list.squares[i], num_stones + 1};
    const int score = -Search(next, -beta, -alpha);
    if (score >= beta) {
      Remember(key, score, true);
      return score;
    }
    alpha = std::max(alpha, score);
  }
  Remember(key, alpha, false);
  return alpha;
}

int Connect4Solver::Bound(const Connect4Board& board, int alpha, int beta) {
  const int num_stones = board.num_stones();
  if (board.finished()) return board.winner() < 0 ? 0 : -WinNow(num_stones - 1);
  const Position position = {board.stones(board.to_play()), board.occupied(), num_stones};
  const uint64_t wins =
      connect4::FourthSquares(position.own) & connect4::DropSquares(position.occupied);
  return wins != 0 ? WinNow(num_stones) : Search(position, alpha, beta);
}

int Connect4Solver::Score(const Connect4Board& board) {
  int low = -kMaxScore;
  int high = kMaxScore;
  // Null windows; the first tells the sign.
  while (low < high) {
    const int probe = low + (high - low) / 2;
    const int score = Bound(board, probe, probe + 1);
    if (score <= probe) {
      high = score;
    } else {
      low = score;
    }
  }
  return low;
}

int Connect4Solver::Outcome(const Connect4Board& board) {
  if (Bound(board, 0, 1) > 0) return 1;
  return Bound(board, -1, 0) < 0 ? -1 : 0;
}

int Connect4Solver::PliesToEnd(const Connect4Board& board, int score) {
  const int num_stones = board.num_stones();
  if (score == 0) return kSquares - num_stones;
  // The winner's stones on the board at the end; player 0's n-th stone is number 2 n - 1 of all.
  const int winner = score > 0 ? board.to_play() : 1 - board.to_play();
  const int winner_stones = kMaxScore + 1 - std::abs(score);
  return 2 * winner_stones - (winner == 0 ? 1 : 0) - num_stones;
}

int Connect4Solver::ActionScore(const Connect4Board& board, int action) {
  Connect4Board next = board;
  next.Play(action);
  return -Score(next);
}

int Connect4Solver::ActionOutcome(const Connect4Board& board, int action) {
  Connect4Board next = board;
  next.Play(action);
  return -Outcome(next);
}

std::vector<int32_t> Connect4Solver::ActionsWorth(const Connect4Board& board, int score) {
  std::vector<int32_t> actions;
  for (int action = 0; action < kColumns; ++action) {
    if (!board.legal(action)) continue;
    Connect4Board next = board;
    next.Play(action);
    if (Bound(next, -score, -score + 1) <= -score) actions.push_back(action);
  }
  return actions;
}

std::vector<int32_t> Connect4Solver::OptimalActions(const Connect4Board& board) {
  if (board.finished()) return {};
  const int outcome = Outcome(board);
  return ActionsWorth(board, outcome < 0 ? -kMaxScore : outcome);
}

std::vector<int32_t> Connect4Solver::BestActions(const Connect4Board& board) {
  if (board.finished()) return {};
  return ActionsWorth(board, Score(board));
}

}  // namespace lzero
