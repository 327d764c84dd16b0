// The symmetries of boards, for EnvSpec::symmetries. Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_BOARD_SYMMETRIES_H_
#define LZERO_ENVS_BOARDS_BOARD_SYMMETRIES_H_

#include <vector>

#include "lzero/base/symmetry.h"

namespace lzero {

// The eight rotations and reflections of a board of `size` x `size` squares, the identity first.
// Observation: `num_planes` planes of size * size, channels first, each turned alike. Actions: one
// for each square, row * size + column, then `num_other_actions` that stay what they are, such as
// passing.
std::vector<Symmetry> SquareBoardSymmetries(int size, int num_planes, int num_other_actions = 0);

// The identity and the half turn of such a board.
std::vector<Symmetry> HalfTurnSymmetries(int size, int num_planes);

// The identity and the mirror image, left to right, of a board of `num_rows` x `num_columns`
// squares. Observation as above. Actions: one for each column.
std::vector<Symmetry> ColumnBoardSymmetries(int num_rows, int num_columns, int num_planes);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_BOARD_SYMMETRIES_H_
