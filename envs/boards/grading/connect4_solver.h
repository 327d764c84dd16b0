// Connect Four solved exactly, and graded by that: negamax with null windows on bitboards and a
// table of bounds. Meant for positions with 12 or more stones (milliseconds); fewer take seconds,
// the empty board much longer. For evaluation only; nothing that trains may use it. One thread at a
// time.
//
// Scores: positive when the mover wins, by the stones he then has left, the winning one counted:
// 22 less his stones on the board at the end; 0 for a draw; negative when the other wins, likewise.
#ifndef LZERO_ENVS_BOARDS_GRADING_CONNECT4_SOLVER_H_
#define LZERO_ENVS_BOARDS_GRADING_CONNECT4_SOLVER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "envs/boards/connect4.h"
#include "lzero/env/grader.h"

namespace lzero {

class Connect4Solver {
 public:
  // The table holds 2^table_bits entries of 8 bytes; 22: 32 MiB. 10 .. 32.
  explicit Connect4Solver(int table_bits = 22);

  // With perfect play of both, for the player to move; of a finished board from the view of the
  // player who would be next.
  int Score(const Connect4Board& board);
  // The sign of Score: 1, 0 or -1; quicker.
  int Outcome(const Connect4Board& board);
  // Plies from `board` to the end when both play perfectly, the loser as long as he can.
  static int PliesToEnd(const Connect4Board& board, int score);

  // After the legal `action`, for the player who plays it.
  int ActionScore(const Connect4Board& board, int action) { return -Score(board.After(action)); }
  int ActionOutcome(const Connect4Board& board, int action) {
    return -Outcome(board.After(action));
  }
  // The legal actions that keep the outcome; empty when the game is over.
  std::vector<int32_t> OptimalActions(const Connect4Board& board) {
    if (board.finished()) return {};
    const int outcome = Outcome(board);
    return ActionsWorth(board, outcome < 0 ? -kMaxScore : outcome);
  }
  // Those among them with the best score: the quickest win or the slowest loss.
  std::vector<int32_t> BestActions(const Connect4Board& board) {
    if (board.finished()) return {};
    return ActionsWorth(board, Score(board));
  }

  // Positions searched so far.
  int64_t num_positions() const { return num_positions_; }

 private:
  // The mover's stones, all stones, their number.
  struct Position {
    uint64_t own = 0;
    uint64_t occupied = 0;
    int num_stones = 0;
  };
  // Squares to try, the most promising first.
  struct MoveList {
    std::array<uint64_t, connect4::kColumns> squares;
    int size = 0;
  };

  static constexpr int kMaxScore = connect4::kSquares / 2;

  // The score, exact inside (alpha, beta), else a bound.
  int Bound(const Connect4Board& board, int alpha, int beta);
  // The same of a position whose mover cannot win with his next stone.
  int Search(const Position& position, int alpha, int beta);
  // The legal actions that score at least `score`.
  std::vector<int32_t> ActionsWorth(const Connect4Board& board, int score);
  static MoveList OrderedMoves(const Position& position, uint64_t moves);

  // Narrows the window by what is known of `key`.
  void Recall(uint64_t key, int* alpha, int* beta) const;
  void Remember(uint64_t key, int score, bool is_lower_bound);
  size_t SlotOf(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> (64 - table_bits_));
  }
  // The stones of the mover and the height of every column in one number.
  static uint64_t KeyOf(const Position& position) {
    return position.own + position.occupied + connect4::kBottomRow;
  }

  int table_bits_;
  std::vector<uint64_t> table_;  // key << 8 | bound; 0: empty
  int64_t num_positions_ = 0;
};

// Positions to grade by, each reached by random moves: number i has fewest_stones + i % (35 -
// fewest_stones) stones, 34 at most. All are unfinished and no two are equal or mirror images. The
// same for ever: grades of different runs can be compared.
std::vector<Connect4Board> Connect4Sample(int num_positions, int fewest_stones);

// Grades a policy on that sample. A move is optimal when it keeps the value of the game (win, draw
// or loss), however long that takes. The report is divided by the number of stones. Not for several
// threads. The first Grade solves the positions, which takes some seconds for these numbers.
std::unique_ptr<Grader> MakeConnect4Grader(int num_positions = 1000, int fewest_stones = 12);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GRADING_CONNECT4_SOLVER_H_
