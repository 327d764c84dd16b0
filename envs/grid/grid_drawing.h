// Shows a grid world: as MiniGrid's two letters a cell, and as a picture. Changes nothing. Pure
// functions.
#ifndef LZERO_ENVS_GRID_GRID_DRAWING_H_
#define LZERO_ENVS_GRID_GRID_DRAWING_H_

#include <string>

#include "envs/grid/grid_world.h"
#include "lzero/base/picture/image.h"

namespace lzero {

// The lines of MiniGrid's pprint_grid: an object's letter and its colour's (walls WG, a ball AB, a
// key KY, the goal GG, lava VR), a door's D or L (locked) and its colour's, an open door __, the
// agent twice as > V < ^. Then a line "carrying: yellow key" or "carrying: nothing".
std::string GridText(const GridWorld& world);

// Square tiles, at most 24 pixels and at most 400 together; floors dark, the agent a red triangle,
// what it sees brighter.
Image GridPicture(const GridWorld& world);

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_GRID_DRAWING_H_
