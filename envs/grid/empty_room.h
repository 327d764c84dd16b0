// MiniGrid-Empty: one room with the goal in its bottom right corner. The agent starts in the top
// left corner, facing right, or anywhere (MiniGrid-Empty-Random) with the setting random_start. The
// agent sees through walls here. Cap 4 size^2 unless set. The rest is grid_env.h's.
// [minigrid/envs/empty.py]
#ifndef LZERO_ENVS_GRID_EMPTY_ROOM_H_
#define LZERO_ENVS_GRID_EMPTY_ROOM_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/grid/grid_env.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

class EmptyRoom : public GridEnv {
 public:
  static std::vector<EnvSetting> Settings();
  // InvalidArgument for a setting that is not allowed, a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

 protected:
  void Generate(NumpyRandom& random, GridWorld& world) const override;

 private:
  EmptyRoom(EnvSpec spec, GridWorld world, bool random_start)
      : GridEnv(std::move(spec), std::move(world)), random_start_(random_start) {}

  bool random_start_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_EMPTY_ROOM_H_
