// Random positions of any board, for tests.
#ifndef LZERO_TESTS_ENVS_BOARDS_RANDOM_POSITION_H_
#define LZERO_TESTS_ENVS_BOARDS_RANDOM_POSITION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "envs/boards/board.h"
#include "lzero/base/rng.h"

namespace lzero {

// Plays `num_plies` random moves from `start`; starts again where a game ends on the way, so the
// result is unfinished.
inline std::unique_ptr<Board> RandomPosition(const Board& start, int num_plies,
                                             RandomStream& random) {
  std::unique_ptr<Board> board = start.Clone();
  std::vector<uint8_t> mask(start.num_actions());
  for (int ply = 0; ply < num_plies; ++ply) {
    board->FillLegalActions(absl::MakeSpan(mask));
    std::vector<int> legal;
    for (int action = 0; action < start.num_actions(); ++action) {
      if (mask[action] != 0) legal.push_back(action);
    }
    board->Play(legal[random.UniformInt(static_cast<int64_t>(legal.size()))]);
    if (board->finished()) {
      board->CopyFrom(start);
      ply = -1;
    }
  }
  return board;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_BOARDS_RANDOM_POSITION_H_
