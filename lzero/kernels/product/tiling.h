// How the rows and panels of a product are cut into tiles that fit the registers, and into blocks
// that fit the caches. Not the tiles: each instruction set brings its own functions. The cut
// changes no bit: every number is summed over blocks of kDepthBlock inputs in order. Any thread.
#ifndef LZERO_KERNELS_PRODUCT_TILING_H_
#define LZERO_KERNELS_PRODUCT_TILING_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lzero/kernels/product/product_kernels.h"

namespace lzero {

constexpr int64_t kRowBlock = 96;  // of x: it stays in the second cache

// Rows from `row` on times the panels from `panel` on, inputs first_k to end_k - 1; how many rows
// and panels, the tile's function knows.
struct Tile {
  const ProductCall* call;
  int64_t row;
  int64_t panel;
  int64_t first_k, end_k;
  int64_t first_x;     // floats from a row of x to its input first_k
  int64_t in_segment;  // inputs of first_k's segment from it on
  // Where the tile goes and what is added to its sums, addend rows as those of y; null: nothing.
  float* y;
  int64_t y_stride;
  const float* bias;
  const float* addend;
  bool gelu;
};

// True when the weights of the next tile have to come from memory: this one asks for them while it
// computes, because the processor itself does not look that far ahead.
inline bool FetchesNext(const Tile& tile, int num_panels) {
  constexpr int64_t kBytesOfNearCache = int64_t{1} << 20;
  return tile.row == 0 && tile.panel + 2 * num_panels <= tile.call->end_panel &&
         tile.call->matrix->panel_bytes() >= kBytesOfNearCache;
}

using TileFunction = void (*)(const Tile&);

inline constexpr int kMostTileRows = 12;
inline constexpr int64_t kMostTileColumns = 8 * kPanelColumns;
inline constexpr int64_t kMostTileSize = kMostTileRows * 2 * kPanelColumns;

// Tiles of one number of panels: functions[rows - 1].
struct TileRow {
  int num_panels;
  TileFunction functions[kMostTileRows];
};

// What an instruction set has registers for.
struct TileSet {
  int max_rows;         // of the tallest tile of `many` and `one`
  int64_t depth_block;  // inputs that are summed at once
  TileRow two;          // for calls of up to two rows: wide, so that enough sums are in flight
  TileRow four;         // for calls of up to four, and what is left of two
  TileRow many;
  TileRow one;  // one panel: what is left over
};

// A tile at the right border of an array without room for whole panels, through an array that has.
inline void RunBorderTile(TileFunction function, Tile tile, int64_t height, int num_panels) {
  alignas(64) float sums[kMostTileSize];
  alignas(64) float bias[kMostTileColumns] = {};
  const int64_t width = num_panels * kPanelColumns;
  const int64_t columns = tile.call->columns - tile.panel * kPanelColumns;
  const Tile whole = tile;
  for (int64_t r = 0; r < height && whole.addend != nullptr; ++r) {
    std::copy_n(whole.addend + r * whole.y_stride, columns, sums + r * width);
    std::fill_n(sums + r * width + columns, width - columns, 0.0f);
  }
  if (whole.bias != nullptr) std::copy_n(whole.bias, columns, bias);
  tile.y = sums;
  tile.y_stride = width;
  if (whole.addend != nullptr) tile.addend = sums;
  if (whole.bias != nullptr) tile.bias = bias;
  function(tile);
  for (int64_t r = 0; r < height; ++r) {
    std::copy_n(sums + r * width, columns, whole.y + r * whole.y_stride);
  }
}

// Rows [first_row, end_row) of one group of panels, inputs from first_k on.
inline void RunGroup(const ProductCall& call, const TileSet& set, const TileRow& tiles,
                     int64_t panel, int64_t first_row, int64_t end_row, int64_t first_k) {
  // One tile is the case of a small batch: no division then.
  const bool is_one = end_row - first_row <= set.max_rows;
  const int64_t num_tiles = is_one ? 1 : (end_row - first_row + set.max_rows - 1) / set.max_rows;
  const int64_t column = panel * kPanelColumns, depth = call.matrix->in();
  const bool at_border = column + tiles.num_panels * kPanelColumns > call.columns;
  Tile tile = {&call,
               first_row,
               panel,
               first_k,
               std::min(depth - first_k, set.depth_block) + first_k,
               first_k * call.x_step,
               call.x_segment,
               nullptr,
               call.y_stride,
               nullptr,
               nullptr,
               false};
  if (first_k >= call.x_segment) tile.first_x += first_k / call.x_segment * call.x_jump;
  if (first_k > 0) tile.in_segment -= first_k % call.x_segment;
  tile.gelu = call.gelu && tile.end_k == depth;
  // The first block adds to the addend and the bias, later ones to what is there.
  if (first_k == 0 && call.bias != nullptr) tile.bias = call.bias + column;
  const float* addend = first_k == 0 ? call.addend : call.y;
  for (int64_t i = 0; i < num_tiles; ++i) {
    // Tiles of equal height: 9 rows are 4 and 5, not 8 and 1.
    const int64_t height = is_one ? end_row - first_row : (end_row - tile.row) / (num_tiles - i);
    const int64_t at = tile.row * call.y_stride + column;
    tile.y = call.y + at;
    tile.addend = addend == nullptr ? nullptr : addend + at;
    const TileFunction function = tiles.functions[height - 1];
    if (at_border) {
      RunBorderTile(function, tile, height, tiles.num_panels);
    } else {
      function(tile);
    }
    tile.row += height;
  }
}

// Calls run(tiles, panel) for groups of panels that cover all of the call's.
template <typename Function>
void ForEachGroup(const ProductCall& call, const TileSet& set, const Function& run) {
  int64_t panel = call.first_panel;
  const auto run_groups = [&](const TileRow& tiles) {
    for (; panel + tiles.num_panels <= call.end_panel; panel += tiles.num_panels) run(tiles, panel);
  };
  if (call.num_rows <= 2) run_groups(set.two);
  if (call.num_rows <= 4) run_groups(set.four);
  run_groups(set.many);
  run_groups(set.one);
}

inline void RunTiles(const ProductCall& call, const TileSet& set) {
  const int64_t depth = call.matrix->in();
  // Few rows go through memory panel by panel, many keep a block of both matrices in the caches.
  if (call.num_rows <= set.max_rows) {
    if (call.num_rows == 0) return;
    return ForEachGroup(call, set, [&](const TileRow& tiles, int64_t panel) {
      for (int64_t k = 0; k < depth; k += set.depth_block) {
        RunGroup(call, set, tiles, panel, 0, call.num_rows, k);
      }
    });
  }
  for (int64_t k = 0; k < depth; k += set.depth_block) {
    for (int64_t row = 0; row < call.num_rows; row += kRowBlock) {
      ForEachGroup(call, set, [&](const TileRow& tiles, int64_t panel) {
        RunGroup(call, set, tiles, panel, row, std::min(call.num_rows, row + kRowBlock), k);
      });
    }
  }
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

template <template <int, int> class Maker, int MaxRows, int Panels, int... Heights>
constexpr TileRow MakeTileRow(std::integer_sequence<int, Heights...>) {
  return {Panels, {TileOfHeight<Maker, MaxRows, Panels, Heights + 1>()...}};
}

// The set of an instruction set with these tile sizes.
template <template <int, int> class Maker, int MaxRows, int Two, int Four, int Many>
constexpr TileSet MakeTileSet(int64_t depth_block) {
  constexpr int kAtMostTwo = MaxRows < 2 ? MaxRows : 2, kAtMostFour = MaxRows < 4 ? MaxRows : 4;
  constexpr auto kHeights = std::make_integer_sequence<int, kMostTileRows>();
  return {MaxRows,
          depth_block,
          MakeTileRow<Maker, kAtMostTwo, Two>(kHeights),
          MakeTileRow<Maker, kAtMostFour, Four>(kHeights),
          MakeTileRow<Maker, MaxRows, Many>(kHeights),
          MakeTileRow<Maker, MaxRows, 1>(kHeights)};
}

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_TILING_H_
