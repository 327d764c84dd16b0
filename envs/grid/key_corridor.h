// MiniGrid-KeyCorridor: rooms on both sides of a corridor; a ball lies behind a locked door on the
// right, its key in a room on the left. Picking up the ball is success; the hand that holds the key
// is not free for it. room_size x room_size cells a room, walls included, in num_rows rows; cap
// 30 room_size^2 unless set. The rest is grid_env.h's. [minigrid/envs/keycorridor.py]
#ifndef LZERO_ENVS_GRID_KEY_CORRIDOR_H_
#define LZERO_ENVS_GRID_KEY_CORRIDOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/grid/grid_env.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

class KeyCorridor : public GridEnv {
 public:
  static std::vector<EnvSetting> Settings();
  // InvalidArgument for a setting that is not allowed, a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

 protected:
  void Generate(NumpyRandom& random, GridWorld& world) const override;
  bool IsSuccess(GridEvent event) const override;

 private:
  KeyCorridor(EnvSpec spec, GridWorld world, int room_size, int num_rows)
      : GridEnv(std::move(spec), std::move(world)), room_size_(room_size), num_rows_(num_rows) {}

  int room_size_;
  int num_rows_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_KEY_CORRIDOR_H_
