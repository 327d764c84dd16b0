// Connect Four positions as sets of 64 bits, shared by the game and its solver: bit column * 7 +
// row, row 0 at the bottom; the seventh row of each column stays empty, so that shifted sets do not
// run over into the next column. Constants and pure functions, any thread.
#ifndef LZERO_ENVS_BOARDS_CONNECT4_BITS_H_
#define LZERO_ENVS_BOARDS_CONNECT4_BITS_H_

#include <cstdint>
#include <initializer_list>

namespace lzero::connect4 {

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

}  // namespace lzero::connect4

#endif  // LZERO_ENVS_BOARDS_CONNECT4_BITS_H_
