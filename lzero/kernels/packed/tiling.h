// How the rows and panels of a product are cut into tiles that fit the registers. Not the tiles:
// each instruction set brings its own functions. Pure functions; any thread.
#ifndef LZERO_KERNELS_PACKED_TILING_H_
#define LZERO_KERNELS_PACKED_TILING_H_

#include <cstdint>

#include "lzero/kernels/packed/kernels.h"

namespace lzero::packed {

// Rows from `row` on times the panels from `panel` on; how many of each, the tile's function knows.
struct Tile {
  const LinearCall* call;
  int64_t row;
  int64_t panel;
};

// True when the weights of the next tile have to come from memory: this one asks for them while it
// computes, because the processor itself does not look that far ahead.
inline bool FetchesNext(const Tile& tile, int num_panels) {
  constexpr int64_t kBytesOfNearCache = int64_t{1} << 20;
  return tile.row == 0 && tile.panel + 2 * num_panels <= tile.call->end_panel &&
         tile.call->matrix->panel_bytes() >= kBytesOfNearCache;
}

using TileFunction = void (*)(const Tile&);

inline constexpr int kMostTileRows = 8;

// Tiles of one number of panels: functions[rows - 1].
struct TileRow {
  int num_panels;
  TileFunction functions[kMostTileRows];
};

// What an instruction set has registers for.
struct TileSet {
  int max_rows;  // of the tallest tile of `many` and `one`
  TileRow two;   // for calls of up to two rows: wide, so that enough sums are in flight
  TileRow four;  // for calls of up to four
  TileRow many;
  TileRow one;  // one panel: what is left over
};

// Runs groups of panels over all rows while enough panels are left; returns the next panel.
inline int64_t RunGroups(const LinearCall& call, const TileRow& tiles, int max_rows,
                         int64_t panel) {
  const int64_t num_tiles = (call.num_rows + max_rows - 1) / max_rows;
  for (; panel + tiles.num_panels <= call.end_panel; panel += tiles.num_panels) {
    int64_t row = 0;
    for (int64_t i = 0; i < num_tiles; ++i) {
      // Tiles of equal height: 9 rows are 4 and 5, not 8 and 1.
      const int64_t height = (call.num_rows - row) / (num_tiles - i);
      tiles.functions[height - 1]({&call, row, panel});
      row += height;
    }
  }
  return panel;
}

inline void RunTiles(const LinearCall& call, const TileSet& set) {
  if (call.num_rows == 0) return;
  int64_t panel = call.first_panel;
  if (call.num_rows <= 2) {
    panel = RunGroups(call, set.two, set.max_rows, panel);
  } else if (call.num_rows <= 4) {
    panel = RunGroups(call, set.four, set.max_rows, panel);
  }
  panel = RunGroups(call, set.many, set.max_rows, panel);
  RunGroups(call, set.one, set.max_rows, panel);
}

// TileRow of Maker<rows, panels>::Get() for every height up to MaxRows.
template <template <int, int> class Maker, int MaxRows, int Panels, int Rows>
constexpr TileFunction TileOfHeight() {
  if constexpr (Rows > MaxRows) {
    return nullptr;
  } else {
    return Maker<Rows, Panels>::Get();
  }
}

template <template <int, int> class Maker, int MaxRows, int Panels>
constexpr TileRow MakeTileRow() {
  return {Panels,
          {TileOfHeight<Maker, MaxRows, Panels, 1>(), TileOfHeight<Maker, MaxRows, Panels, 2>(),
           TileOfHeight<Maker, MaxRows, Panels, 3>(), TileOfHeight<Maker, MaxRows, Panels, 4>(),
           TileOfHeight<Maker, MaxRows, Panels, 5>(), TileOfHeight<Maker, MaxRows, Panels, 6>(),
           TileOfHeight<Maker, MaxRows, Panels, 7>(), TileOfHeight<Maker, MaxRows, Panels, 8>()}};
}

// The set of an instruction set with these tile sizes.
template <template <int, int> class Maker, int MaxRows, int Two, int Four, int Many>
constexpr TileSet MakeTileSet() {
  constexpr int kAtMostTwo = MaxRows < 2 ? MaxRows : 2, kAtMostFour = MaxRows < 4 ? MaxRows : 4;
  return {MaxRows, MakeTileRow<Maker, kAtMostTwo, Two>(), MakeTileRow<Maker, kAtMostFour, Four>(),
          MakeTileRow<Maker, MaxRows, Many>(), MakeTileRow<Maker, MaxRows, 1>()};
}

}  // namespace lzero::packed

#endif  // LZERO_KERNELS_PACKED_TILING_H_
