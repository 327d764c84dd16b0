// MiniGrid-LavaGap: a strip of lava with one gap between the agent, top left, and the goal, bottom
// right. Cap 4 size^2 unless set. The rest is grid_env.h's. [minigrid/envs/lavagap.py]
#ifndef LZERO_ENVS_GRID_LAVA_GAP_H_
#define LZERO_ENVS_GRID_LAVA_GAP_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/grid/grid_env.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

class LavaGap : public GridEnv {
 public:
  static std::vector<EnvSetting> Settings();
  // InvalidArgument for a setting that is not allowed, a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

 protected:
  void Generate(NumpyRandom& random, GridWorld& world) const override;

 private:
  LavaGap(EnvSpec spec, GridWorld world) : GridEnv(std::move(spec), std::move(world)) {}
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_LAVA_GAP_H_
