// What an environment promises: shapes, bounds, players, limits. Plain data, no thread rule.
#ifndef LZERO_ENV_ENV_SPEC_H_
#define LZERO_ENV_ENV_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lzero/base/observation_type.h"
#include "lzero/base/symmetry.h"

namespace lzero {

enum class ActionKind { kDiscrete, kBox };

struct ActionSpec {
  ActionKind kind = ActionKind::kDiscrete;
  int num_actions = 0;  // kDiscrete: actions are 0 .. num_actions - 1
  // kBox: [action_dim]. A finite value beyond its bounds is taken and acts like the bound, up to
  // rounding; whether a reward counts it as given is the environment's own rule. NaN and infinity
  // are refused.
  std::vector<float> low;
  std::vector<float> high;

  // Numbers of a box action; 0 for discrete ones.
  int64_t dim() const { return static_cast<int64_t>(low.size()); }
};

struct ObservationSpec {
  std::vector<int64_t> shape;  // {4}, or channels first {3, 3, 3} for boards and pictures
  // Bounds of every element, or one value for all of them.
  std::vector<float> low;
  std::vector<float> high;
  ObservationType type = ObservationType::kFloat32;
  // An observation is so many blocks of equal size, the oldest first; the next one of the episode
  // is its last frame_stack - 1 blocks and a new one. An episode may begin with any blocks. Replay
  // keeps every block once.
  int64_t frame_stack = 1;

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
  // Truncates episodes by rules of its own, away from the cap.
  bool truncates_itself = false;
  // Above 0: every step draws one of so many chance outcomes, which can be listed and chosen
  // (Env::ChanceOutcomes, Env::StepWithOutcome).
  int num_chance_outcomes = 0;
  // Relabellings under which the environment plays the same, the identity among them; empty: none
  // is declared.
  std::vector<Symmetry> symmetries = {};
};

}  // namespace lzero

#endif  // LZERO_ENV_ENV_SPEC_H_
