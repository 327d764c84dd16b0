// 2048 on a 4x4 board. Actions: 0 up, 1 right, 2 down, 3 left; a move that changes nothing is
// illegal, and the game ends when no move is left. Reward: the sum of the tiles that the move made
// by merging, so that the return is the usual score. There is no end at a largest tile.
// Observation {16, 4, 4}: plane 0 marks empty squares, plane k tiles 2^k; tiles above 2^15 are in
// plane 15 as well. [LightZero zoo/game_2048: the same actions, planes and raw reward]
// Chance: after the move one empty square, all equally likely, gets a 2 (90 %) or a 4 (10 %):
// outcome = (row * 4 + column) * 2, plus 1 for a 4. The start, two such tiles, comes from the seed.
#ifndef LZERO_ENVS_STOCHASTIC_GAME_2048_H_
#define LZERO_ENVS_STOCHASTIC_GAME_2048_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/rng.h"
#include "lzero/base/symmetry.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

// A position without chance. Plain value; a direction is an action of the environment.
struct Board2048 {
  static constexpr int kSize = 4;
  static constexpr int kNumSquares = kSize * kSize;
  static constexpr int kNumDirections = 4;
  // No game makes a larger tile than 2^17 or more in all than one tile each of 4 .. 2^17.
  static constexpr int kMaxExponent = 17;
  static constexpr int64_t kMaxSum = (int64_t{1} << (kMaxExponent + 1)) - 4;

  std::array<uint8_t, kNumSquares> exponents = {};  // [row * 4 + column], k = tile 2^k, 0 = empty

  // Moves every tile, merges equal neighbours once, the ones furthest in the direction first.
  // Returns the sum of the tiles made; 0 and no change for a move that is not legal.
  int64_t Slide(int direction);
  // Bit d: direction d changes the board.
  int LegalDirections() const;
  int NumEmpty() const;
  // Puts the tile of a chance outcome on its square, which is empty.
  void Place(int32_t outcome);
  // Whether the exponents and their sum are within the bounds above.
  bool IsPossible() const;

  friend bool operator==(const Board2048&, const Board2048&) = default;
};

class Game2048 : public EpisodeEnv {
 public:
  static constexpr int kNumPlanes = 16;
  static constexpr int kNumOutcomes = Board2048::kNumSquares * 2;

  // The eight rotations and reflections of the board, the identity first.
  static std::vector<Symmetry> Symmetries();

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // Four lines of tiles ('.' empty) and the score.
  absl::StatusOr<std::string> RenderText() const override;
  // The score above coloured tiles.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  std::vector<ChanceOutcome> GameChances(const Action& action) const override;
  Outcome AdvanceWith(const Action& action, int32_t chance_outcome) override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;
  // The 16 tiles (0, 2, 4, ...) row by row. A state that is set keeps the random stream.
  std::vector<double> GetPhysics() const override;
  absl::Status SetPhysics(const std::vector<double>& state) override;

 private:
  explicit Game2048(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  // An outcome for the board as it is, with an empty square at least.
  int32_t DrawOutcome();
  // Ends the step of a move that made tiles of this sum.
  Outcome PlaceAndFinish(int64_t made, int32_t chance_outcome);

  Board2048 board_;
  int legal_directions_ = 0;  // of board_
  int64_t score_ = 0;
  RandomStream random_{0};
};

}  // namespace lzero

#endif  // LZERO_ENVS_STOCHASTIC_GAME_2048_H_
