// Gomoku on a board of 5 to 19 rows and as many columns: action = row * size + column, row 0 at the
// top; player 0 plays black; five or more in a row win (freestyle, no forbidden moves); a full
// board is a draw. Observation {3, size, size} from the view of the player to move: own stones, the
// other's stones, all ones when player 0 is to move. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_GOMOKU_H_
#define LZERO_ENVS_BOARDS_GOMOKU_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/boards/board.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

class GomokuBoard : public Board {
 public:
  static constexpr int kMaxSize = 19;

  // board_size.
  static std::vector<EnvSetting> Settings();
  // The environment of the game. InvalidArgument for a setting outside its range; other errors as
  // MakeBoardEnv.
  static absl::StatusOr<std::unique_ptr<Env>> CreateEnv(const EnvOptions& options);

  explicit GomokuBoard(int size);  // 5 .. 19

  int size() const { return size_; }
  int num_stones() const { return num_stones_; }
  // 0 or 1, the player whose stone it is; -1: empty.
  int owner(int row, int column) const { return cells_[row * size_ + column]; }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<GomokuBoard>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const GomokuBoard&>(other); }
  int num_actions() const override { return size_ * size_; }
  int to_play() const override { return num_stones_ % 2; }
  bool finished() const override { return winner_ >= 0 || num_stones_ == num_actions(); }
  int winner() const override { return winner_; }
  bool legal(int action) const override;
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  void FillPlanes(absl::Span<float> planes) const override;
  // Weighs the lines of five that are still open to one player alone; kept up to date by Play.
  double Estimate() const override;
  // A line of 'X', 'O' and '.' for each row.
  std::string ToText() const override;
  // The last stone carries a mark.
  Image ToImage() const override;
  void Save(StateWriter& writer) const override;
  absl::Status Load(StateReader& reader) override;

 private:
  bool on_board(int row, int column) const {
    return row >= 0 && row < size_ && column >= 0 && column < size_;
  }
  // Whether the stone there is one of five or more in a row.
  bool HasFiveThrough(int square) const;
  // What the lines of five through an empty square gain for `player` by his stone on it.
  int PointsGained(int square, int player) const;
  void PutStone(int square, int player);
  // Becomes the position of these cells, whose last stone is on `last_square` (-1: there is none);
  // the reason when no game can have led to it.
  std::string Rebuild(const std::vector<int8_t>& cells, int last_square);

  int size_;
  int num_stones_ = 0;
  int winner_ = -1;
  int last_square_ = -1;
  int points_ = 0;  // of the lines of five, player 0's less player 1's
  std::array<int8_t, kMaxSize * kMaxSize> cells_;  // -1 empty, 0, 1; the first size * size count
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GOMOKU_H_
