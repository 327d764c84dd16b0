// TicTacToe for two players. Action = row * 3 + column, row 0 at the top; player 0 plays X. The
// winner's last move pays 1 to the mover, everything else 0. Observation {3, 3, 3} from the view of
// the player to move: own stones, the other's stones, all ones when player 0 is to move.
// Random openings are an option: Reset then plays some random moves that do not end the game.
#ifndef LZERO_ENVS_BOARDS_TICTACTOE_H_
#define LZERO_ENVS_BOARDS_TICTACTOE_H_

#include <array>
#include <bit>
#include <cstdint>

#include "envs/boards/stone_board.h"

namespace lzero {

// A position and the rules.
class TicTacToeBoard final : public StoneBoard<TicTacToeBoard> {
 public:
  static constexpr int kNumSquares = 9;

  std::array<uint16_t, 2> stones = {0, 0};  // bit row * 3 + column, player 0 and player 1

  uint16_t occupied() const { return stones[0] | stones[1]; }
  // The position that `action`, a legal one, leads to.
  TicTacToeBoard After(int action) const {
    TicTacToeBoard next = *this;
    next.Play(action);
    return next;
  }
  static constexpr int rows() { return 3; }
  static constexpr int columns() { return 3; }
  bool has_stone(int player, int row, int column) const {
    return (stones[player] >> (row * 3 + column) & 1) != 0;
  }
  int num_actions() const override { return kNumSquares; }
  int to_play() const override { return (std::popcount(stones[0]) + std::popcount(stones[1])) % 2; }
  bool finished() const override { return occupied() == 0x1ff || winner() >= 0; }
  int winner() const override;
  bool legal(int action) const override {
    return action >= 0 && action < kNumSquares && !(occupied() >> action & 1) && !finished();
  }
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    const int empty = finished() ? 0 : ~occupied();
    for (int square = 0; square < kNumSquares; ++square) mask[square] = empty >> square & 1;
  }
  Image ToImage() const override;
  void Save(StateWriter& writer) const override {
    for (const uint16_t bits : stones) writer.Write(bits);
  }
  absl::Status Load(StateReader& reader) override;

  friend bool operator==(const TicTacToeBoard& a, const TicTacToeBoard& b) {
    return a.stones == b.stones;
  }
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_TICTACTOE_H_
