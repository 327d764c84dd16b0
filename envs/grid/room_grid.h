// MiniGrid's RoomGrid: equal square rooms in rows and columns that share their walls, doors between
// neighbours, things in rooms. It builds one world and is then thrown away; the family says which
// rooms and doors its task needs. Draws in the reference's order. One thread.
// [minigrid/core/roomgrid.py]
#ifndef LZERO_ENVS_GRID_ROOM_GRID_H_
#define LZERO_ENVS_GRID_ROOM_GRID_H_

#include <array>
#include <vector>

#include "envs/grid/grid_world.h"
#include "envs/support/numpy_random.h"

namespace lzero {

// One of the six colours, drawn in the order of their names.
GridColor DrawGridColor(NumpyRandom& random);

class RoomGrid {
 public:
  // The walls of a room. The order is the reference's.
  enum Side { kRight, kDown, kLeft, kUp };

  // Cells along a side of so many rooms, walls included.
  static int WorldSize(int room_size, int num_rooms) { return (room_size - 1) * num_rooms + 1; }

  // Draws the walls, draws where doors may come, and puts the agent in the middle, facing right.
  // `random` and `world`, WorldSize cells each way and clear, outlive this. Rooms are room_size
  // cells wide and high, walls included, at least 3.
  RoomGrid(int room_size, int num_columns, int num_rows, NumpyRandom* random, GridWorld* world);

  // A wall without a neighbour behind it or with a door is our bug.
  void AddDoor(int column, int row, Side side, GridColor color, DoorState state) {
    Open(column, row, side);
    Room& here = room(column, row);
    here.is_behind_lock = state == DoorState::kLocked;
    world_.Set(here.doors[side], GridCell::Door(color, state));
  }
  void RemoveWall(int column, int row, Side side);
  // On an empty cell of the room that is not beside the agent.
  void AddThing(int column, int row, GridCell thing) {
    world_.PlaceCell(random_, RectangleOf(column, row), /*distance=*/2, thing);
  }
  // On an empty cell of the room, with nothing but a wall before it.
  void PlaceAgent(int column, int row);
  // Adds closed doors of drawn colours until all rooms can be reached, those behind locked doors
  // through them.
  void ConnectAll();

 private:
  struct Room {
    bool is_behind_lock = false;
    std::array<bool, 4> has_neighbor = {};
    std::array<bool, 4> is_open = {};  // a door, whatever its state, or no wall
    std::array<GridPlace, 4> doors;    // where a door would be
  };

  Room& room(int column, int row) { return rooms_[row * num_columns_ + column]; }
  Room& Neighbor(int column, int row, Side side) {
    return room(column + kGridSteps[side].x, row + kGridSteps[side].y);
  }
  GridRectangle RectangleOf(int column, int row) const {
    return {column * (room_size_ - 1), row * (room_size_ - 1), room_size_, room_size_};
  }
  void DrawDoorPlaces(int column, int row);
  // Both rooms at this wall; checks that there are two and that the wall is whole.
  void Open(int column, int row, Side side);
  bool AllReachable();

  int room_size_;
  int num_columns_;
  int num_rows_;
  NumpyRandom& random_;
  GridWorld& world_;
  std::vector<Room> rooms_;  // [num_rows, num_columns]
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_ROOM_GRID_H_
