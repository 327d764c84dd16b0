// TicTacToe for two players. Action = row * 3 + column, row 0 at the top; player 0 plays X. The
// winner's last move pays 1 to the mover, everything else 0. Observation {3, 3, 3} from the view of
// the player to move: own stones, the other's stones, all ones when player 0 is to move.
// Random openings are an option: Reset then plays some random moves that do not end the game.
#ifndef LZERO_ENVS_TICTACTOE_H_
#define LZERO_ENVS_TICTACTOE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lzero/base/rng.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

// A position and the rules. Plain value; Play on an occupied square or a finished game is our bug.
struct TicTacToeBoard {
  std::array<uint16_t, 2> stones = {0, 0};  // bit row * 3 + column, player 0 and player 1

  uint16_t occupied() const { return stones[0] | stones[1]; }
  int to_play() const;           // 0 or 1, by the number of stones
  int winner() const;            // 0, 1, or -1
  bool finished() const;         // won or full
  bool legal(int action) const;  // false for every action once finished
  TicTacToeBoard Play(int action) const;
  // As the environment shows it: observation, mask, to_play, flags; no reward, no return.
  TimeStep ToTimeStep() const;
  // Three lines of 'X', 'O' and '.'.
  std::string ToText() const;

  friend bool operator==(const TicTacToeBoard&, const TicTacToeBoard&) = default;
};

class TicTacToe : public EpisodeEnv {
 public:
  static constexpr int kNumSquares = 9;

  // InvalidArgument for a cap below 9, an opening fraction outside 0 .. 1 or plies outside 1 .. 8.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  absl::StatusOr<std::string> RenderText() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  int ToPlay() const override { return board_.to_play(); }
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;

 private:
  TicTacToe(EnvSpec spec, const EnvOptions& options)
      : EpisodeEnv(std::move(spec)),
        opening_fraction_(options.random_opening_fraction),
        opening_plies_(options.random_opening_plies) {}

  void PlayRandomOpening(RandomStream& random);

  double opening_fraction_;
  int64_t opening_plies_;
  TicTacToeBoard board_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_TICTACTOE_H_
