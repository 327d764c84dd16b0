// Connect Four: 6 rows, 7 columns; action = column, the stone falls on the lowest empty square;
// four in a row, level, upright or along a diagonal, win; a full board is a draw. Observation {3,
// 6, 7} from the view of the player to move, row 0 at the top: own stones, the other's stones, all
// ones when player 0 is to move. Not the solver: connect4_solver.h. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_CONNECT4_H_
#define LZERO_ENVS_BOARDS_CONNECT4_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "envs/boards/stone_board.h"

namespace lzero {

// Positions as sets of 64 bits: bit column * 7 + row, row 0 at the bottom; the seventh row of each
// column stays empty, so that shifted sets do not run over into the next column.
namespace connect4 {

constexpr int kRows = 6;
constexpr int kColumns = 7;
constexpr int kSquares = kRows * kColumns;
constexpr int kStride = kRows + 1;  // bits a column

constexpr uint64_t Square(int column, int row) { return uint64_t{1} << (column * kStride + row); }
// All six squares of a column.
constexpr uint64_t Column(int column) { return ((uint64_t{1} << kRows) - 1) << (column * kStride); }
// The lowest square of every column.
constexpr uint64_t BottomRow() {
  uint64_t row = 0;
  for (int column = 0; column < kColumns; ++column) row |= Square(column, 0);
  return row;
}
constexpr uint64_t kBottomRow = BottomRow();
constexpr uint64_t kBoard = kBottomRow * ((uint64_t{1} << kRows) - 1);

// The squares on which a stone can come to lie now.
constexpr uint64_t DropSquares(uint64_t occupied) { return (occupied + kBottomRow) & kBoard; }

// Whether `stones` hold four in a row: up, level, or along a diagonal.
constexpr bool HasFour(uint64_t stones) {
  for (const int step : {1, kStride, kStride - 1, kStride + 1}) {
    const uint64_t pairs = stones & (stones >> step);
    if ((pairs & (pairs >> (2 * step))) != 0) return true;
  }
  return false;
}

// The squares of the board, taken or not, on which one more stone gives `stones` four in a row.
// In an upright four only the top counts: the stones below are always there first.
constexpr uint64_t FourthSquares(uint64_t stones) {
  uint64_t squares = (stones << 1) & (stones << 2) & (stones << 3);
  for (const int step : {kStride, kStride - 1, kStride + 1}) {
    const uint64_t two_before = (stones << step) & (stones << (2 * step));
    const uint64_t two_behind = (stones >> step) & (stones >> (2 * step));
    squares |= two_before & ((stones << (3 * step)) | (stones >> step));
    squares |= two_behind & ((stones >> (3 * step)) | (stones << step));
  }
  return squares & kBoard;
}

}  // namespace connect4

class Connect4Board final : public StoneBoard<Connect4Board> {
 public:
  // The stones of player 0 or 1.
  uint64_t stones(int player) const { return stones_[player]; }
  uint64_t occupied() const { return stones_[0] | stones_[1]; }
  int num_stones() const { return num_stones_; }
  // The position that `action`, a legal one, leads to.
  Connect4Board After(int action) const {
    Connect4Board next = *this;
    next.Play(action);
    return next;
  }

  static constexpr int rows() { return connect4::kRows; }
  static constexpr int columns() { return connect4::kColumns; }
  bool has_stone(int player, int row, int column) const {
    return (stones_[player] & connect4::Square(column, connect4::kRows - 1 - row)) != 0;
  }
  int num_actions() const override { return connect4::kColumns; }
  int to_play() const override { return num_stones_ % 2; }
  bool finished() const override { return winner_ >= 0 || num_stones_ == connect4::kSquares; }
  int winner() const override { return winner_; }
  bool legal(int action) const override {
    return action >= 0 && action < connect4::kColumns && !finished() &&
           (occupied() & connect4::Square(action, connect4::kRows - 1)) == 0;
  }
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    const uint64_t open = finished() ? 0 : ~occupied();
    for (int column = 0; column < connect4::kColumns; ++column) {
      mask[column] = (open & connect4::Square(column, connect4::kRows - 1)) != 0 ? 1 : 0;
    }
  }
  // Weighs the lines of four that are still open to one player alone.
  double Estimate() const override;
  Image ToImage() const override;
  void Save(StateWriter& writer) const override {
    for (const uint64_t stones : stones_) writer.Write(stones);
  }
  absl::Status Load(StateReader& reader) override;

 private:
  std::array<uint64_t, 2> stones_ = {0, 0};
  int num_stones_ = 0;
  int winner_ = -1;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_CONNECT4_H_
