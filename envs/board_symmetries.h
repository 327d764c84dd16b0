// The symmetries of square boards, for EnvSpec::symmetries. Pure, any thread.
#ifndef LZERO_ENVS_BOARD_SYMMETRIES_H_
#define LZERO_ENVS_BOARD_SYMMETRIES_H_

#include <vector>

#include "lzero/base/symmetry.h"

namespace lzero {

// The eight rotations and reflections of a board of `size` x `size` squares, the identity first.
// Observation: `num_planes` planes of size * size, channels first, each turned alike. Actions: one
// for each square, row * size + column.
std::vector<Symmetry> SquareBoardSymmetries(int size, int num_planes);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARD_SYMMETRIES_H_
