// What all MiniGrid environments share: observation, actions, rewards, step cap, saving, drawing.
// A family says how its world is made and what success is; the world's rules are grid_world.h's.
// An environment is used by one thread at a time.
#ifndef LZERO_ENVS_GRID_GRID_ENV_H_
#define LZERO_ENVS_GRID_GRID_ENV_H_

#include <functional>
#include <string>
#include <vector>

#include "envs/grid/grid_world.h"
#include "envs/support/numpy_random.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// A family with its settings.
struct GridTask {
  int width = 0, height = 0;
  int default_cap = 0;  // the reference's max_steps
  // Builds an episode's world, which is clear, with draws in the reference's order.
  std::function<void(NumpyRandom&, GridWorld&)> generate = nullptr;
  bool sees_through_walls = false;
  GridObject target = GridObject::kGoal;  // success: reaching the goal, or picking up this
};

// Observation {4, 7, 7}, [channel][row][column] of the agent's view, the agent in the middle of the
// bottom row looking up: object, colour and state in MiniGrid's numbers (its `image`, which is
// [column][row][channel], transposed; 0 where nothing is seen), then the direction 0 .. 3 in every
// cell. The numbers are not scaled. The mission text of these families tells nothing that the
// cells do not, so it is not part of the observation: only KeyCorridor's changes, with the colour
// of its only ball.
// Actions: 0 left, 1 right, 2 forward, 3 pick up, 4 drop, 5 toggle, 6 done (which does nothing);
// all are legal always. Success at step t pays 1 - 0.9 t / max_episode_steps and terminates; lava
// pays 0 and terminates; at the cap an episode is truncated, and may be terminated as well.
EnvRegistry::Entry GridEntry(const std::string& id, const std::string& summary,
                             const std::vector<EnvSetting>& settings,
                             std::function<GridTask(const EnvSettings&)> task_of);

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_GRID_ENV_H_
