#include "envs/boards/match.h"

#include <memory>

#include "lzero/base/check.h"
#include "lzero/base/rng.h"

namespace lzero {

MatchScore MatchResult::total() const {
  return {by_color[0].wins + by_color[1].wins, by_color[0].draws + by_color[1].draws,
          by_color[0].losses + by_color[1].losses};
}

MatchResult PlayMatch(BoardEnv& env, Player& first, Player& second, int64_t num_games,
                      uint64_t seed) {
  LZ_CHECK(num_games >= 1, "a match of ", num_games, " games");
  const std::unique_ptr<Board> board = env.start().Clone();
  MatchResult result;
  for (int64_t game = 0; game < num_games; ++game) {
    const auto pair = static_cast<uint64_t>(game / 2);
    const int color = static_cast<int>(game % 2);  // of `first`
    env.Reset(StreamKey(seed, "match opening", pair));
    board->CopyFrom(env.board());
    while (!board->finished()) {
      Player& mover = board->to_play() == color ? first : second;
      board->Play(mover.ChooseAction(*board));
      ++result.num_plies;
    }
    MatchScore& score = result.by_color[color];
    const int winner = board->winner();
    ++(winner < 0 ? score.draws : winner == color ? score.wins : score.losses);
  }
  return result;
}

}  // namespace lzero
