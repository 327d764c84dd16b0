// The sizes a replay buffer is made for. Plain data, no thread rule.
#ifndef LZERO_REPLAY_REPLAY_SHAPE_H_
#define LZERO_REPLAY_REPLAY_SHAPE_H_

#include <cstdint>
#include <vector>

#include "lzero/base/observation_type.h"
#include "lzero/base/symmetry.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

struct ReplayShape {
  int observation_size = 0;
  int num_actions = 0;  // A; box: K, the actions that a search samples at its root
  int num_envs = 0;
  TerminalMode terminal = TerminalMode::kAbsorb;
  std::vector<Symmetry> symmetries = {};  // used with replay.augment_symmetries
  // Steps before a position from which its root is rebuilt, for whoever searches stored positions
  // again. A segment keeps those before its first one (see ReplayContextSteps).
  int num_root_past_steps = 0;
  // From the environment's ObservationSpec.
  ObservationType observation_type = ObservationType::kFloat32;
  int frame_stack = 1;
  std::vector<int64_t> observation_shape = {};  // used with replay.augment_shift
  int action_dim = 0;                           // D of box actions; 0: discrete
  int num_chance_outcomes = 0;                  // that steps can draw; 0: none is stored
};

}  // namespace lzero

#endif  // LZERO_REPLAY_REPLAY_SHAPE_H_
