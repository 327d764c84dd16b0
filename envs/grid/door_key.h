// MiniGrid-DoorKey: a wall with a locked door splits the room; agent and key are on its left, the
// goal is in the bottom right corner. Cap 10 size^2 unless set. The rest is grid_env.h's.
// [minigrid/envs/doorkey.py]
#ifndef LZERO_ENVS_GRID_DOOR_KEY_H_
#define LZERO_ENVS_GRID_DOOR_KEY_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/grid/grid_env.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

class DoorKey : public GridEnv {
 public:
  static std::vector<EnvSetting> Settings();
  // InvalidArgument for a setting that is not allowed, a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

 protected:
  void Generate(NumpyRandom& random, GridWorld& world) const override;

 private:
  DoorKey(EnvSpec spec, GridWorld world) : GridEnv(std::move(spec), std::move(world)) {}
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_DOOR_KEY_H_
