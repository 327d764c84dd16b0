// A side of a match whose moves are chosen by a Player of its own at each game, so that games can
// be thought about on several threads and their moves do not depend on the order. One thread at a
// time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_OPPONENT_SIDE_H_
#define LZERO_ENVS_BOARDS_PLAYERS_OPPONENT_SIDE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/players/match_side.h"
#include "envs/boards/players/player.h"
#include "lzero/base/thread_pool.h"

namespace lzero {

class OpponentSide : public MatchSide {
 public:
  // The player of game number `game`.
  using PlayerFactory = std::function<std::unique_ptr<Player>(int64_t game)>;

  // `pool` outlives the side. `stop`, if given, is polled before every move, on any thread.
  OpponentSide(PlayerFactory make_player, ThreadPool* pool, std::function<bool()> stop = {});

  void BeginGame(int table, int64_t game, const Board& start) override;
  void OnMove(int /*table*/, int /*action*/, const Board& /*board*/) override {}
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override;

 private:
  PlayerFactory make_player_;
  ThreadPool* pool_;
  std::function<bool()> stop_;
  std::vector<std::unique_ptr<Player>> players_;  // by table
};

// The side of a player by name (opponents.h), whose errors it has. What it plays depends on `seed`
// and the number of the game alone.
absl::StatusOr<std::unique_ptr<MatchSide>> MakeOpponentSide(const std::string& name, uint64_t seed,
                                                            ThreadPool* pool,
                                                            std::function<bool()> stop = {});

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_OPPONENT_SIDE_H_
