#include "envs/grid/grid_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "envs/support/canvas.h"

namespace lzero {
namespace {

constexpr int kLargestTile = 24;
constexpr int kLargestPicture = 400;

constexpr Color kFloor = {22, 24, 30};
constexpr Color kGridLine = {58, 62, 72};
constexpr Color kWallColor = {118, 122, 130};
constexpr Color kLavaColor = {255, 128, 0};
constexpr Color kAgentColor = {255, 48, 48};
constexpr std::array<Color, kNumGridColors> kColors = {{{235, 64, 52},
                                                        {60, 200, 90},
                                                        {66, 120, 245},
                                                        {160, 90, 220},
                                                        {245, 215, 60},
                                                        {150, 152, 158}}};

char ColorLetter(GridColor color) { return "RGBPYG"[static_cast<int>(color)]; }

absl::string_view ColorName(GridColor color) {
  constexpr std::array<absl::string_view, kNumGridColors> kNames = {"red",    "green",  "blue",
                                                                    "purple", "yellow", "grey"};
  return kNames[static_cast<int>(color)];
}

std::string CellText(const GridCell& cell) {
  if (cell.object == GridObject::kUnseen || cell.is_empty()) return "  ";
  if (cell.object == GridObject::kDoor && !cell.is_shut_door()) return "__";
  const bool is_locked = cell.object == GridObject::kDoor && cell.state == DoorState::kLocked;
  const char letter = is_locked ? 'L' : "  W DKA GV"[static_cast<int>(cell.object)];
  return {letter, ColorLetter(cell.color)};
}

// A tile's own brush: coordinates are shares of the tile, colours are brighter where it is seen.
class Tile {
 public:
  Tile(Canvas& canvas, GridPlace place, int size, bool is_seen)
      : canvas_(canvas), left_(place.x * size), top_(place.y * size), size_(size), seen_(is_seen) {}

  void Rectangle(double left, double top, double right, double bottom, Color color) {
    canvas_.FillRectangle(left_ + left * size_, top_ + top * size_, (right - left) * size_,
                          (bottom - top) * size_, Lit(color));
  }
  void Circle(double x, double y, double radius, Color color) {
    canvas_.FillCircle(At(x, y), radius * size_, Lit(color));
  }
  void Line(double x0, double y0, double x1, double y1, double thickness, Color color) {
    canvas_.Line(At(x0, y0), At(x1, y1), thickness * size_, Lit(color));
  }
  // Turned by `quarters` to the right around the middle of the tile.
  void Triangle(const std::array<Point, 3>& corners, int quarters, Color color) {
    std::vector<Point> turned;
    for (Point corner : corners) {
      for (int i = 0; i < quarters; ++i) corner = {1.0 - corner.y, corner.x};
      turned.push_back(At(corner.x, corner.y));
    }
    canvas_.FillPolygon(turned, Lit(color));
  }

 private:
  Point At(double x, double y) const { return {left_ + x * size_, top_ + y * size_}; }
  Color Lit(Color color) const {
    if (!seen_) return color;
    const auto lit = [](uint8_t part) { return static_cast<uint8_t>(part + (255 - part) / 5); };
    return {lit(color.red), lit(color.green), lit(color.blue)};
  }

  Canvas& canvas_;
  double left_;
  double top_;
  double size_;
  bool seen_;
};

void DrawDoor(Tile& tile, DoorState state, Color color) {
  if (state == DoorState::kOpen) {
    tile.Rectangle(0.82, 0.0, 1.0, 1.0, color);
    tile.Rectangle(0.88, 0.06, 0.94, 0.94, kFloor);
    return;
  }
  tile.Rectangle(0.0, 0.0, 1.0, 1.0, color);
  tile.Rectangle(0.09, 0.09, 0.91, 0.91, kFloor);
  if (state == DoorState::kLocked) {
    const auto dim = [](uint8_t part) { return static_cast<uint8_t>(part / 2); };
    tile.Rectangle(0.09, 0.09, 0.91, 0.91, {dim(color.red), dim(color.green), dim(color.blue)});
    tile.Rectangle(0.5, 0.44, 0.78, 0.56, color);
    return;
  }
  tile.Rectangle(0.18, 0.18, 0.82, 0.82, color);
  tile.Rectangle(0.26, 0.26, 0.74, 0.74, kFloor);
  tile.Circle(0.64, 0.5, 0.07, color);
}

void DrawKey(Tile& tile, Color color) {
  tile.Rectangle(0.46, 0.35, 0.58, 0.9, color);
  tile.Rectangle(0.3, 0.6, 0.46, 0.68, color);
  tile.Rectangle(0.3, 0.8, 0.46, 0.88, color);
  tile.Circle(0.52, 0.28, 0.19, color);
  tile.Circle(0.52, 0.28, 0.07, kFloor);
}

void DrawLava(Tile& tile) {
  tile.Rectangle(0.0, 0.0, 1.0, 1.0, kLavaColor);
  for (const double top : {0.26, 0.5, 0.74}) {
    for (const double left : {0.1, 0.5}) {
      tile.Line(left, top, left + 0.2, top + 0.1, 0.06, kFloor);
      tile.Line(left + 0.2, top + 0.1, left + 0.4, top, 0.06, kFloor);
    }
  }
}

void DrawCell(Tile& tile, const GridCell& cell) {
  tile.Rectangle(0.0, 0.0, 1.0, 1.0, kGridLine);
  tile.Rectangle(0.04, 0.04, 1.0, 1.0, kFloor);
  const Color color = kColors[static_cast<int>(cell.color)];
  if (cell.object == GridObject::kWall) tile.Rectangle(0.0, 0.0, 1.0, 1.0, kWallColor);
  if (cell.object == GridObject::kDoor) DrawDoor(tile, cell.state, color);
  if (cell.object == GridObject::kKey) DrawKey(tile, color);
  if (cell.object == GridObject::kBall) tile.Circle(0.5, 0.5, 0.31, color);
  if (cell.object == GridObject::kGoal) tile.Rectangle(0.04, 0.04, 1.0, 1.0, color);
  if (cell.object == GridObject::kLava) DrawLava(tile);
}

// [height, width], of the world's cells.
std::vector<bool> SeenCells(const GridWorld& world) {
  std::vector<bool> seen(static_cast<size_t>(world.width() * world.height()), false);
  const GridView view = world.View();
  for (int row = 0; row < GridView::kSize; ++row) {
    for (int column = 0; column < GridView::kSize; ++column) {
      const GridPlace place = world.PlaceOfView(column, row);
      if (!view.sees(column, row) || !world.Contains(place)) continue;
      seen[static_cast<size_t>(place.y * world.width() + place.x)] = true;
    }
  }
  return seen;
}

}  // namespace

std::string GridText(const GridWorld& world) {
  std::string text;
  for (int y = 0; y < world.height(); ++y) {
    for (int x = 0; x < world.width(); ++x) {
      const bool is_agent = world.agent().place == GridPlace{x, y};
      text +=
          is_agent ? std::string(2, ">V<^"[world.agent().direction]) : CellText(world.at({x, y}));
    }
    text += '\n';
  }
  const GridCell& carried = world.carried();
  if (carried.is_empty()) return text + "carrying: nothing\n";
  return absl::StrCat(text, "carrying: ", ColorName(carried.color),
                      carried.object == GridObject::kKey ? " key\n" : " ball\n");
}

Image GridPicture(const GridWorld& world) {
  const int longest = std::max(world.width(), world.height());
  const int size = std::min(kLargestTile, kLargestPicture / longest);
  Image image(world.width() * size, world.height() * size);
  Canvas canvas(&image);
  const std::vector<bool> seen = SeenCells(world);
  for (int y = 0; y < world.height(); ++y) {
    for (int x = 0; x < world.width(); ++x) {
      const GridPlace place = {x, y};
      Tile tile(canvas, place, size, seen[static_cast<size_t>(y * world.width() + x)]);
      DrawCell(tile, world.at(place));
      if (world.agent().place != place) continue;
      tile.Triangle({{{0.14, 0.16}, {0.9, 0.5}, {0.14, 0.84}}}, world.agent().direction,
                    kAgentColor);
      // What is carried rides on the agent's back.
      if (!world.carried().is_empty()) {
        tile.Circle(0.5, 0.5, 0.14, kColors[static_cast<int>(world.carried().color)]);
      }
    }
  }
  return image;
}

}  // namespace lzero
