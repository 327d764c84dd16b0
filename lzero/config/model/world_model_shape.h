// The sizes of an environment as networks know them. Plain data.
#ifndef LZERO_CONFIG_MODEL_WORLD_MODEL_SHAPE_H_
#define LZERO_CONFIG_MODEL_WORLD_MODEL_SHAPE_H_

#include <cstdint>
#include <vector>

namespace lzero {

// What a network is built from: the shapes of its environment, beside the config.
struct WorldModelShape {
  std::vector<int64_t> observation_shape;
  int64_t num_actions = 0;          // discrete actions; 0: box
  int64_t action_dim = 0;           // box: numbers of an action; else 0
  int64_t num_chance_outcomes = 0;  // C, that follow an action; 0: none, or none that are told
  // Where actions stand on a board, of the environment's ActionSpec; empty: nowhere.
  std::vector<int32_t> action_places = {};

  // Outputs of a policy head: a logit for each action; box: means, then logs of sigma.
  int64_t policy_size() const { return action_dim > 0 ? 2 * action_dim : num_actions; }
  // Rows of the table that turns actions into tokens: one for each action; box: one for each
  // number, then a bias.
  int64_t action_rows() const { return action_dim > 0 ? action_dim + 1 : num_actions; }
  int64_t observation_size() const {
    int64_t size = 1;
    for (const int64_t length : observation_shape) size *= length;
    return size;
  }
};

}  // namespace lzero

#endif  // LZERO_CONFIG_MODEL_WORLD_MODEL_SHAPE_H_
