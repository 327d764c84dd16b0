#include "envs/boards/grading/connect4_solver.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/grading/grading.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

using connect4::kColumns;
using connect4::kSquares;

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

std::vector<int32_t> Connect4Solver::ActionsWorth(const Connect4Board& board, int score) {
  std::vector<int32_t> actions;
  for (int action = 0; action < kColumns; ++action) {
    if (!board.legal(action)) continue;
    if (Bound(board.After(action), -score, -score + 1) <= -score) actions.push_back(action);
  }
  return actions;
}

namespace {

constexpr int kMostStones = 34;

uint64_t MirrorImage(uint64_t stones) {
  uint64_t image = 0;
  for (int column = 0; column < kColumns; ++column) {
    const uint64_t pile = (stones & connect4::Column(column)) >> (column * connect4::kStride);
    image |= pile << ((kColumns - 1 - column) * connect4::kStride);
  }
  return image;
}

// The same for a position and its mirror image, different for all others.
std::pair<uint64_t, uint64_t> SharedKey(const Connect4Board& board) {
  const std::pair<uint64_t, uint64_t> key = {board.stones(0), board.stones(1)};
  return std::min(key, {MirrorImage(key.first), MirrorImage(key.second)});
}

// Plays random moves until `num_stones` lie there, from the start again where a game ends before.
Connect4Board RandomBoard(int num_stones, RandomStream& random) {
  Connect4Board board;
  while (board.num_stones() < num_stones || board.finished()) {
    if (board.finished()) board = Connect4Board();
    const int column = static_cast<int>(random.UniformInt(kColumns));
    if (board.legal(column)) board.Play(column);
  }
  return board;
}

// Positions of so many numbers of stones are told together.
constexpr int kGroupWidth = 4;

std::vector<GradeGroup> EmptyGroups(int fewest_stones) {
  std::vector<GradeGroup> groups;
  for (int first = fewest_stones; first <= kMostStones; first += kGroupWidth) {
    const int last = std::min(first + kGroupWidth - 1, kMostStones);
    groups.push_back({{}, absl::StrCat(first, " .. ", last, " stones")});
  }
  return groups;
}

}  // namespace

std::vector<Connect4Board> Connect4Sample(int num_positions, int fewest_stones) {
  LZ_CHECK(fewest_stones >= 0 && fewest_stones <= kMostStones, fewest_stones, " stones");
  RandomStream random(0, "connect4 grader");
  std::vector<Connect4Board> sample;
  std::set<std::pair<uint64_t, uint64_t>> seen;
  while (static_cast<int>(sample.size()) < num_positions) {
    const int turn = static_cast<int>(sample.size()) % (kMostStones + 1 - fewest_stones);
    const Connect4Board board = RandomBoard(fewest_stones + turn, random);
    if (seen.insert(SharedKey(board)).second) sample.push_back(board);
  }
  return sample;
}

namespace {

class Connect4Grader : public Grader {
 public:
  Connect4Grader(int num_positions, int fewest_stones)
      : fewest_stones_(fewest_stones), sample_(Connect4Sample(num_positions, fewest_stones)) {}

  absl::StatusOr<GradeReport> Grade(const BatchPolicy& policy) const override {
    Connect4Solver solver;
    std::vector<TimeStep> steps;
    for (const Connect4Board& board : sample_) {
      if (optimal_.size() < sample_.size()) optimal_.push_back(solver.OptimalActions(board));
      steps.push_back(TimeStepOf(board, 3 * connect4::kSquares));
      steps.back().state = StateOf(board, "connect4");
    }
    LZ_ASSIGN_OR_RETURN(
        const std::vector<int32_t> actions,
        ChooseLegalActions(policy, steps, [&](size_t i) { return sample_[i].ToText(); }));
    GradeReport report;
    report.groups = EmptyGroups(fewest_stones_);
    for (size_t i = 0; i < sample_.size(); ++i) {
      const Connect4Board& board = sample_[i];
      GradeGroup& group = report.groups[(board.num_stones() - fewest_stones_) / kGroupWidth];
      Blunder* blunder = CountMove(steps[i], optimal_[i], actions[i], &report, &group);
      if (blunder == nullptr) continue;
      blunder->position = board.ToText();
      blunder->value_lost =
          solver.ActionOutcome(board, optimal_[i][0]) - solver.ActionOutcome(board, actions[i]);
    }
    return report;
  }

 private:
  int fewest_stones_;
  std::vector<Connect4Board> sample_;
  mutable std::vector<std::vector<int32_t>> optimal_;  // empty before the first Grade
};

}  // namespace

std::unique_ptr<Grader> MakeConnect4Grader(int num_positions, int fewest_stones) {
  return std::make_unique<Connect4Grader>(num_positions, fewest_stones);
}

}  // namespace lzero
