// MiniGrid-FourRooms: four rooms of 8 x 8 cells with a gap in each wall between them, agent and
// goal anywhere. The reference's size is fixed, 19 x 19. Cap 100 unless set. The rest is
// grid_env.h's. [minigrid/envs/fourrooms.py]
#ifndef LZERO_ENVS_GRID_FOUR_ROOMS_H_
#define LZERO_ENVS_GRID_FOUR_ROOMS_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "envs/grid/grid_env.h"
#include "lzero/env/env_registry.h"

namespace lzero {

class FourRooms : public GridEnv {
 public:
  static constexpr int kSize = 19;

  // InvalidArgument for a negative cap or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

 protected:
  void Generate(NumpyRandom& random, GridWorld& world) const override;

 private:
  FourRooms(EnvSpec spec, GridWorld world) : GridEnv(std::move(spec), std::move(world)) {}
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_FOUR_ROOMS_H_
