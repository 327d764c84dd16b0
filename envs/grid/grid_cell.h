// One cell of a grid world, in MiniGrid's numbers: which object, its colour, the state of a door.
// Objects that no environment here has (floor, box) are left out. Plain data, no thread rule.
// [minigrid/core/constants.py, world_object.py]
#ifndef LZERO_ENVS_GRID_GRID_CELL_H_
#define LZERO_ENVS_GRID_GRID_CELL_H_

#include <cstdint>

namespace lzero {

enum class GridObject : uint8_t {
  kUnseen = 0,  // of views only
  kEmpty = 1,
  kWall = 2,
  kDoor = 4,
  kKey = 5,
  kBall = 6,
  kGoal = 8,
  kLava = 9,
};

enum class GridColor : uint8_t { kRed, kGreen, kBlue, kPurple, kYellow, kGrey };
inline constexpr int kNumGridColors = 6;

enum class DoorState : uint8_t { kOpen, kClosed, kLocked };
inline constexpr int kNumDoorStates = 3;

// What a view shows of a cell: three numbers, (0, 0, 0) where nothing is seen.
struct GridCell {
  GridObject object = GridObject::kUnseen;
  GridColor color = GridColor::kRed;
  DoorState state = DoorState::kOpen;  // of doors; kOpen, which is 0, for the rest

  static constexpr GridCell Empty() { return {GridObject::kEmpty}; }
  static constexpr GridCell Wall() { return {GridObject::kWall, GridColor::kGrey}; }
  static constexpr GridCell Goal() { return {GridObject::kGoal, GridColor::kGreen}; }
  static constexpr GridCell Lava() { return {GridObject::kLava, GridColor::kRed}; }
  static constexpr GridCell Key(GridColor color) { return {GridObject::kKey, color}; }
  static constexpr GridCell Ball(GridColor color) { return {GridObject::kBall, color}; }
  static constexpr GridCell Door(GridColor color, DoorState state) {
    return {GridObject::kDoor, color, state};
  }

  constexpr bool is_empty() const { return object == GridObject::kEmpty; }
  constexpr bool is_shut_door() const {
    return object == GridObject::kDoor && state != DoorState::kOpen;
  }
  constexpr bool can_be_entered() const {
    return is_empty() || object == GridObject::kGoal || object == GridObject::kLava ||
           (object == GridObject::kDoor && state == DoorState::kOpen);
  }
  constexpr bool can_be_carried() const {
    return object == GridObject::kKey || object == GridObject::kBall;
  }
  constexpr bool blocks_sight() const { return object == GridObject::kWall || is_shut_door(); }

  friend constexpr bool operator==(const GridCell&, const GridCell&) = default;
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_GRID_CELL_H_
