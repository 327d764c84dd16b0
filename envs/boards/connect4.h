// Connect Four: 6 rows, 7 columns; action = column, the stone falls on the lowest empty square;
// four in a row, level, upright or along a diagonal, win; a full board is a draw. Observation {3,
// 6, 7} from the view of the player to move, row 0 at the top: own stones, the other's stones, all
// ones when player 0 is to move. Not the solver: connect4_solver.h. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_CONNECT4_H_
#define LZERO_ENVS_BOARDS_CONNECT4_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "envs/boards/board.h"
#include "envs/boards/connect4_bits.h"
#include "lzero/env/env_registry.h"

namespace lzero {

class Connect4Board : public Board {
 public:
  static constexpr int64_t kObservationSize = 3 * connect4::kSquares;

  // The environment of the game. Errors as MakeBoardEnv.
  static absl::StatusOr<std::unique_ptr<Env>> CreateEnv(const EnvOptions& options);

  // The stones of player 0 or 1, see connect4_bits.h.
  uint64_t stones(int player) const { return stones_[player]; }
  uint64_t occupied() const { return stones_[0] | stones_[1]; }
  int num_stones() const { return num_stones_; }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<Connect4Board>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const Connect4Board&>(other); }
  int num_actions() const override { return connect4::kColumns; }
  int to_play() const override { return num_stones_ % 2; }
  bool finished() const override { return winner_ >= 0 || num_stones_ == connect4::kSquares; }
  int winner() const override { return winner_; }
  bool legal(int action) const override;
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  void FillPlanes(absl::Span<float> planes) const override;
  // Weighs the lines of four that are still open to one player alone.
  double Estimate() const override;
  // Six lines of 'X', 'O' and '.', the top row first.
  std::string ToText() const override;
  Image ToImage() const override;
  void Save(StateWriter& writer) const override;
  absl::Status Load(StateReader& reader) override;

 private:
  std::array<uint64_t, 2> stones_ = {0, 0};
  int num_stones_ = 0;
  int winner_ = -1;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_CONNECT4_H_
