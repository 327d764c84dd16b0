// A Board whose squares are empty or hold a stone of one player: T, which derives from this, has
// rows(), columns() and has_stone(player, row, column), row 0 at the top. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_STONE_BOARD_H_
#define LZERO_ENVS_BOARDS_STONE_BOARD_H_

#include <memory>
#include <string>

#include "envs/boards/board.h"

namespace lzero {

template <typename T>
class StoneBoard : public Board {
 public:
  std::unique_ptr<Board> Clone() const override { return std::make_unique<T>(self()); }
  void CopyFrom(const Board& other) override {
    static_cast<T&>(*this) = static_cast<const T&>(other);
  }
  // Own stones, the other's stones, all ones when player 0 is to move.
  void FillPlanes(absl::Span<float> planes) const override {
    const int mover = self().to_play(), num_squares = self().rows() * self().columns();
    for (int row = 0, square = 0; row < self().rows(); ++row) {
      for (int column = 0; column < self().columns(); ++column, ++square) {
        planes[square] = self().has_stone(mover, row, column) ? 1.0f : 0.0f;
        planes[num_squares + square] = self().has_stone(1 - mover, row, column) ? 1.0f : 0.0f;
        planes[2 * num_squares + square] = mover == 0 ? 1.0f : 0.0f;
      }
    }
  }
  // A line of 'X', 'O' and '.' for each row.
  std::string ToText() const override {
    std::string text;
    for (int row = 0; row < self().rows(); ++row) {
      for (int column = 0; column < self().columns(); ++column) {
        const bool first = self().has_stone(0, row, column);
        text += first ? 'X' : self().has_stone(1, row, column) ? 'O' : '.';
      }
      text += '\n';
    }
    return text;
  }

 private:
  const T& self() const { return static_cast<const T&>(*this); }
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_STONE_BOARD_H_
