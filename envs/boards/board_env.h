// Makes an environment of any Board: observations, masks, rewards, random openings, saving and
// drawing. It knows no game; a game brings a Board and calls MakeBoardEnv. The player whose move
// ends the game sees 1 when he has won by it, -1 when it lost him the game and 0 for a draw; every
// other reward is 0. Used by one thread at a time.
#ifndef LZERO_ENVS_BOARDS_BOARD_ENV_H_
#define LZERO_ENVS_BOARDS_BOARD_ENV_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/board.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/perft.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class BoardEnv : public EpisodeEnv, public MoveCounter {
 public:
  // See MakeBoardEnv.
  BoardEnv(EnvSpec spec, const EnvOptions& options, std::unique_ptr<Board> start);

  // The position now; before the first Reset the start.
  const Board& board() const { return *board_; }
  // Where episodes without a random opening begin.
  const Board& start() const { return *start_; }

  absl::StatusOr<std::string> RenderText() const override { return board_->ToText(); }
  absl::StatusOr<Image> RenderRgb() const override { return board_->ToImage(); }
  void CountMoves(absl::Span<int64_t> counts) const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override {
    const int mover = board_->to_play();
    board_->Play(action.index);
    if (!board_->finished()) return {};
    const int winner = board_->winner();
    return {winner < 0 ? 0.0f : winner == mover ? 1.0f : -1.0f, true};
  }
  void Observe(absl::Span<float> observation) const override { board_->FillPlanes(observation); }
  void FillLegalActions(absl::Span<uint8_t> mask) const override { board_->FillLegalActions(mask); }
  int ToPlay() const override { return board_->to_play(); }
  void SaveGame(StateWriter& writer) const override { board_->Save(writer); }
  absl::Status LoadGame(StateReader& reader) override {
    LZ_RETURN_IF_ERROR(trial_->Load(reader));
    LZ_RETURN_IF_ERROR(reader.Finish());
    std::swap(board_, trial_);
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<Board> start_;
  std::unique_ptr<Board> board_;
  std::unique_ptr<Board> trial_;  // for moves that are tried and states that are read
  double opening_fraction_;
  int64_t opening_plies_;
  std::string opening_stream_;  // name of its random numbers
};

// An environment of the game that begins in `start`, an unfinished position, and lasts at most
// `max_plies`. The caller fills spec.id, spec.observation.shape and spec.symmetries; bounds are 0
// .. 1, and actions stand on their cells where they are as many, or one more, which passes, unless
// he fills these too; the rest comes from the board. InvalidArgument for a cap below
// max_plies, an opening fraction outside 0 .. 1, or opening plies outside 1 .. max_plies - 1 where
// openings are asked for.
absl::StatusOr<std::unique_ptr<Env>> MakeBoardEnv(EnvSpec spec, const EnvOptions& options,
                                                  std::unique_ptr<Board> start, int64_t max_plies);

// `board` as its environment shows it: observation of `observation_size` elements, mask, to_play,
// terminated; no reward, no return.
TimeStep TimeStepOf(const Board& board, int64_t observation_size);
// What environment `id` of this game saves in this position, an unfinished one in which its episode
// began.
std::string StateOf(const Board& board, const std::string& id);
// Plays `num_plies` random moves on `board`, each drawn among the legal ones that do not end the
// game, and returns them; fewer where there is none. `trial` is a board of the same game, for moves
// that are tried.
std::vector<int> PlayRandomOpening(int64_t num_plies, Board* board, Board* trial,
                                   RandomStream* random);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_BOARD_ENV_H_
