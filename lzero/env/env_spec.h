// What an environment promises: shapes, bounds, players, limits. Plain data, no thread rule.
#ifndef LZERO_ENV_ENV_SPEC_H_
#define LZERO_ENV_ENV_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/base/symmetry.h"

namespace lzero {

enum class ActionKind { kDiscrete, kBox };

struct ActionSpec {
  ActionKind kind = ActionKind::kDiscrete;
  int num_actions = 0;      // kDiscrete: actions are 0 .. num_actions - 1
  std::vector<float> low;   // kBox: [action_dim]
  std::vector<float> high;  // kBox: [action_dim]
};

struct ObservationSpec {
  std::vector<int64_t> shape;  // {4}, or channels first {3, 3, 3} for boards
  // Bounds of every element, or one value for all of them.
  std::vector<float> low;
  std::vector<float> high;

  int64_t size() const {
    int64_t count = 1;
    for (const int64_t length : shape) count *= length;
    return count;
  }
};

struct EnvSpec {
  std::string id;
  ObservationSpec observation;
  ActionSpec action;
  int num_players = 1;
  int64_t max_episode_steps = 0;  // the cap in force; 0: the game ends by itself
  bool can_save = false;          // Save and Load work
  bool can_set_state = false;     // physics state, for traces
  bool deterministic = true;      // Step draws no random numbers
  // Relabellings under which the environment plays the same, the identity among them; empty: none
  // is declared.
  std::vector<Symmetry> symmetries = {};
};

}  // namespace lzero

#endif  // LZERO_ENV_ENV_SPEC_H_
