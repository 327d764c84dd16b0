// Othello (Reversi with the crossed start) on 8 x 8 squares: the rules of the World Othello
// Federation, with the ends and the pass of OpenSpiel. Action = row * 8 + column, row 0 at the top;
// 64 = pass, legal only when nothing else is. The game is over when neither player can place a
// disc; more discs win. Player 0 is black and begins. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_OTHELLO_H_
#define LZERO_ENVS_BOARDS_OTHELLO_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "envs/boards/board.h"
#include "lzero/env/env_registry.h"

namespace lzero {

class OthelloBoard final : public Board {
 public:
  static constexpr int kSize = 8;
  static constexpr int kNumSquares = kSize * kSize;
  static constexpr int kPass = kNumSquares;
  static constexpr int kNumActions = kNumSquares + 1;
  static constexpr int kNumPlanes = 3;  // own discs, the other's, all ones when black is to move
  // 60 squares are free at the start; a pass is always followed by a disc.
  static constexpr int kLongestGame = 120;

  // InvalidArgument as MakeBoardEnv.
  static absl::StatusOr<std::unique_ptr<Env>> CreateEnv(const EnvOptions& options);

  OthelloBoard();

  // Bit `row * 8 + column` of each disc of `player`.
  uint64_t discs(int player) const { return discs_[player]; }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<OthelloBoard>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const OthelloBoard&>(other); }
  int num_actions() const override { return kNumActions; }
  int to_play() const override { return to_play_; }
  bool finished() const override { return finished_; }
  int winner() const override;
  bool legal(int action) const override;
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  void FillPlanes(absl::Span<float> planes) const override;
  // Corners, then mobility, then discs once few squares are left.
  double Estimate() const override;
  // Eight rows of 'X' (black), 'O' and '.', then "X to move", or the discs when the game is over.
  std::string ToText() const override;
  Image ToImage() const override;
  void Save(StateWriter& writer) const override;
  // Takes positions that no game reaches when nothing in them is against the rules.
  absl::Status Load(StateReader& reader) override;

 private:
  // Finds the moves of the player to move, and whether the game is over.
  void FindMoves();

  std::array<uint64_t, 2> discs_;
  uint64_t moves_ = 0;  // squares where the player to move may place a disc
  int to_play_ = 0;
  bool finished_ = false;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_OTHELLO_H_
