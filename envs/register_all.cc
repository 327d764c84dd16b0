#include "envs/register_all.h"

#include <memory>

#include "envs/boards/connect4.h"
#include "envs/boards/go.h"
#include "envs/boards/gomoku.h"
#include "envs/boards/grading/connect4_grader.h"
#include "envs/boards/grading/tictactoe_solver.h"
#include "envs/boards/othello.h"
#include "envs/boards/tictactoe.h"
#include "envs/classic/acrobot.h"
#include "envs/classic/cartpole.h"
#include "envs/classic/mountain_car.h"
#include "envs/classic/mountain_car_continuous.h"
#include "envs/classic/pendulum.h"
#include "envs/grid/door_key.h"
#include "envs/grid/empty_room.h"
#include "envs/grid/four_rooms.h"
#include "envs/grid/key_corridor.h"
#include "envs/grid/lava_gap.h"
#include "envs/memory/key_to_door.h"
#include "envs/memory/visual_match.h"
#include "envs/stochastic/game_2048.h"
#include "envs/teaching/catch.h"
#include "envs/teaching/counting.h"
#include "envs/teaching/deep_sea.h"
#include "lzero/env/python/worker_registry.h"

namespace lzero {
namespace {

void RegisterTeaching(EnvRegistry& registry) {
  registry.Register(
      {"counting", "toy: count to 10 by choosing the right one of 3 actions", Counting::Create});
  registry.Register({.id = "catch",
                     .summary = "catch a falling ball on a 10x5 board (bsuite)",
                     .factory = Catch::Create,
                     .settings = Catch::Settings()});
  registry.Register({.id = "deep_sea",
                     .summary = "find the treasure at the far end of a grid (bsuite)",
                     .factory = DeepSea::Create,
                     .settings = DeepSea::Settings()});
}

void RegisterClassic(EnvRegistry& registry) {
  registry.Register(
      {"cartpole", "balance a pole on a cart (Gymnasium CartPole-v1), cap 500", CartPole::Create});
  registry.Register({"mountain_car",
                     "swing a weak car up a hill (Gymnasium MountainCar-v0), cap 200",
                     MountainCar::Create});
  registry.Register({"mountain_car_continuous",
                     "the same with a box action (Gymnasium MountainCarContinuous-v0), cap 999",
                     MountainCarContinuous::Create});
  registry.Register(
      {"pendulum", "swing up and hold a rod (Gymnasium Pendulum-v1), cap 200", Pendulum::Create});
  registry.Register({"acrobot", "swing up two links by their joint (Gymnasium Acrobot-v1), cap 500",
                     Acrobot::Create});
}

void RegisterBoards(EnvRegistry& registry) {
  registry.Register({.id = "tictactoe",
                     .summary = "TicTacToe, two players, optional random openings",
                     .factory = TicTacToeBoard::CreateEnv,
                     .grader = [] { return std::make_unique<TicTacToeGrader>(); }});
  registry.Register({.id = "connect4",
                     .summary = "Connect Four, two players, optional random openings",
                     .factory = Connect4Board::CreateEnv,
                     .grader = [] { return std::make_unique<Connect4Grader>(); }});
  registry.Register({.id = "gomoku",
                     .summary = "Gomoku, five or more in a row, board_size 5 to 19",
                     .factory = GomokuBoard::CreateEnv,
                     .settings = GomokuBoard::Settings()});
  registry.Register({.id = "othello",
                     .summary = "Othello, two players, optional random openings",
                     .factory = OthelloBoard::CreateEnv});
  registry.Register({.id = "go",
                     .summary = "Go, area scoring, board_size 5 to 19",
                     .factory = GoBoard::CreateEnv,
                     .settings = GoBoard::Settings()});
}

void RegisterStochastic(EnvRegistry& registry) {
  registry.Register(
      {"2048", "2048 on a 4x4 board; random tiles are listed chance outcomes", Game2048::Create});
}

void RegisterMemory(EnvRegistry& registry) {
  registry.Register({.id = "visual_match",
                     .summary = "remember a colour past a hall of apples (Hung et al. 2019)",
                     .factory = VisualMatch::Create,
                     .settings = VisualMatch::Settings()});
  registry.Register({.id = "key_to_door",
                     .summary = "take a key that opens a door much later (Hung et al. 2019)",
                     .factory = KeyToDoor::Create,
                     .settings = KeyToDoor::Settings()});
}

void RegisterGrid(EnvRegistry& registry) {
  registry.Register({.id = "minigrid/empty",
                     .summary = "reach the goal of an empty room (MiniGrid)",
                     .factory = EmptyRoom::Create,
                     .settings = EmptyRoom::Settings()});
  registry.Register({.id = "minigrid/fourrooms",
                     .summary = "find the goal in four rooms with gaps (MiniGrid), cap 100",
                     .factory = FourRooms::Create});
  registry.Register({.id = "minigrid/doorkey",
                     .summary = "fetch a key, open a door, reach the goal (MiniGrid)",
                     .factory = DoorKey::Create,
                     .settings = DoorKey::Settings()});
  registry.Register({.id = "minigrid/keycorridor",
                     .summary = "find a key, take a ball from a locked room (MiniGrid)",
                     .factory = KeyCorridor::Create,
                     .settings = KeyCorridor::Settings()});
  registry.Register({.id = "minigrid/lavagap",
                     .summary = "pass a gap in a strip of lava (MiniGrid)",
                     .factory = LavaGap::Create,
                     .settings = LavaGap::Settings()});
}

}  // namespace

void RegisterAllEnvs(EnvRegistry& registry) {
  RegisterTeaching(registry);
  RegisterClassic(registry);
  RegisterBoards(registry);
  RegisterStochastic(registry);
  RegisterMemory(registry);
  RegisterGrid(registry);
  RegisterWorkerEnvs(registry);
}

}  // namespace lzero
