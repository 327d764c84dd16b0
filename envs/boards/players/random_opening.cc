#include "envs/boards/players/random_opening.h"

namespace lzero {

std::vector<int> PlayRandomOpening(int64_t num_plies, Board* board, Board* trial,
                                   RandomStream* random) {
  std::vector<int> moves;
  std::vector<int> quiet;  // legal moves that do not end the game
  for (int64_t ply = 0; ply < num_plies; ++ply) {
    quiet.clear();
    for (int action = 0; action < board->num_actions(); ++action) {
      if (!board->legal(action)) continue;
      trial->CopyFrom(*board);
      trial->Play(action);
      if (!trial->finished()) quiet.push_back(action);
    }
    if (quiet.empty()) return moves;
    moves.push_back(quiet[random->UniformInt(static_cast<int64_t>(quiet.size()))]);
    board->Play(moves.back());
  }
  return moves;
}

}  // namespace lzero
