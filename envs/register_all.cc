#include "envs/register_all.h"

#include "envs/entries.h"
#include "lzero/env/python/worker_registry.h"

namespace lzero {

void RegisterAllEnvs(EnvRegistry& registry) {
  for (const auto entry : {CountingEntry,     CatchEntry,       DeepSeaEntry,
                           CartPoleEntry,     MountainCarEntry, MountainCarContinuousEntry,
                           PendulumEntry,     AcrobotEntry,     TicTacToeEntry,
                           Connect4Entry,     GomokuEntry,      OthelloEntry,
                           GoEntry,           HexEntry,         ChessEntry,
                           Game2048Entry,     VisualMatchEntry, KeyToDoorEntry,
                           EmptyRoomEntry,    FourRoomsEntry,   DoorKeyEntry,
                           KeyCorridorEntry,  LavaGapEntry,     AsterixEntry,
                           BreakoutEntry,     FreewayEntry,     SeaquestEntry,
                           SpaceInvadersEntry}) {
    registry.Register(entry());
  }
  RegisterWorkerEnvs(registry);
}

}  // namespace lzero
