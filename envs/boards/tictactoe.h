// TicTacToe for two players. Action = row * 3 + column, row 0 at the top; player 0 plays X. The
// winner's last move pays 1 to the mover, everything else 0. Observation {3, 3, 3} from the view of
// the player to move: own stones, the other's stones, all ones when player 0 is to move.
// Random openings are an option: Reset then plays some random moves that do not end the game.
#ifndef LZERO_ENVS_BOARDS_TICTACTOE_H_
#define LZERO_ENVS_BOARDS_TICTACTOE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "envs/boards/board.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// A position and the rules.
class TicTacToeBoard : public Board {
 public:
  static constexpr int kNumSquares = 9;

  // The environment of the game. InvalidArgument for a cap below 9, an opening fraction outside
  // 0 .. 1 or plies outside 1 .. 8.
  static absl::StatusOr<std::unique_ptr<Env>> CreateEnv(const EnvOptions& options);

  std::array<uint16_t, 2> stones = {0, 0};  // bit row * 3 + column, player 0 and player 1

  uint16_t occupied() const { return stones[0] | stones[1]; }
  // The position that `action`, a legal one, leads to.
  TicTacToeBoard After(int action) const;
  // As the environment shows it: observation, mask, to_play, flags; no reward, no return.
  TimeStep ToTimeStep() const;

  std::unique_ptr<Board> Clone() const override { return std::make_unique<TicTacToeBoard>(*this); }
  void CopyFrom(const Board& other) override;
  int num_actions() const override { return kNumSquares; }
  int to_play() const override;    // by the number of stones
  bool finished() const override;  // won or full
  int winner() const override;
  bool legal(int action) const override;
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  void FillPlanes(absl::Span<float> planes) const override;
  // Three lines of 'X', 'O' and '.'.
  std::string ToText() const override;
  Image ToImage() const override;
  void Save(StateWriter& writer) const override;
  absl::Status Load(StateReader& reader) override;

  friend bool operator==(const TicTacToeBoard& a, const TicTacToeBoard& b) {
    return a.stones == b.stones;
  }
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_TICTACTOE_H_
