// What all MiniGrid environments share: observation, actions, rewards, step cap, saving, drawing.
// A family adds how its world is made and what success is; the world's rules are grid_world.h's.
// Used by one thread at a time.
#ifndef LZERO_ENVS_GRID_GRID_ENV_H_
#define LZERO_ENVS_GRID_GRID_ENV_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "envs/grid/grid_world.h"
#include "envs/support/numpy_random.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

// Observation {4, 7, 7}, [channel][row][column] of the agent's view, the agent in the middle of the
// bottom row looking up: object, colour and state in MiniGrid's numbers (its `image`, which is
// [column][row][channel], transposed; 0 where nothing is seen), then the direction 0 .. 3 in every
// cell. The numbers are not scaled. The mission text of these families tells nothing that the
// cells do not, so it is not part of the observation: only KeyCorridor's changes, with the colour
// of its only ball.
// Actions: 0 left, 1 right, 2 forward, 3 pick up, 4 drop, 5 toggle, 6 done (which does nothing);
// all are legal always. Success at step t pays 1 - 0.9 t / max_episode_steps and terminates; lava
// pays 0 and terminates; at the cap an episode is truncated, and may be terminated as well.
class GridEnv : public EpisodeEnv {
 public:
  // Two letters a cell as MiniGrid's pprint_grid writes them (walls WG, a locked yellow door LY, an
  // open door __, the agent >> VV << ^^), and a line with what is carried.
  absl::StatusOr<std::string> RenderText() const override;
  // The whole world, what the agent sees a little brighter.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  // The spec of these environments. `default_cap`: the reference's max_steps. InvalidArgument for a
  // negative cap or random openings.
  static absl::StatusOr<EnvSpec> MakeSpec(const std::string& id, const EnvOptions& options,
                                          int64_t default_cap);

  // `world` is of the size that the generator fills.
  GridEnv(EnvSpec spec, GridWorld world);

  // Builds an episode's world in `world`, which is clear, with draws from `random` in the
  // reference's order.
  virtual void Generate(NumpyRandom& random, GridWorld& world) const = 0;
  // Whether the action that had this effect solved the task.
  virtual bool IsSuccess(GridEvent event) const { return event == GridEvent::kReachedGoal; }
  const GridWorld& world() const { return world_; }

  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;

 private:
  GridWorld world_;
  int64_t num_steps_ = 0;  // since the episode's start
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_GRID_ENV_H_
