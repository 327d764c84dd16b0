// Roots of episodes of random observations and actions that all move on together: for tests of
// whole searches.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_MOVING_ROOTS_H_
#define LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_MOVING_ROOTS_H_

#include <cstdint>
#include <vector>

#include "lzero/base/rng.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

// Legal actions differ by environment.
class MovingRoots {
 public:
  MovingRoots(int num_envs, int observation_size, int num_actions, uint64_t seed)
      : random_(seed, "moving roots"),
        observation_size_(observation_size),
        num_actions_(num_actions),
        observations_(num_envs),
        actions_(num_envs),
        legal_(num_envs) {
    for (int env = 0; env < num_envs; ++env) {
      legal_[env].assign(num_actions, 1);
      if (env % 2 == 1) legal_[env][env % num_actions] = 0;
    }
    Step();
  }
  void Step() {
    for (size_t env = 0; env < observations_.size(); ++env) {
      if (!observations_[env].empty()) {
        actions_[env].push_back(static_cast<int32_t>(random_.UniformInt(num_actions_)));
      }
      for (int i = 0; i < observation_size_; ++i) {
        observations_[env].push_back(static_cast<float>(random_.Normal()));
      }
    }
  }
  std::vector<Root> Roots(const std::vector<int>& envs) const {
    std::vector<Root> roots;
    for (const int env : envs) {
      Root root;
      root.env = EnvId(env);
      root.observations = observations_[env];
      root.actions = actions_[env];
      root.step = static_cast<int64_t>(actions_[env].size());
      root.legal_action_mask = legal_[env];
      roots.push_back(root);
    }
    return roots;
  }

 private:
  RandomStream random_;
  int observation_size_, num_actions_;
  std::vector<std::vector<float>> observations_;
  std::vector<std::vector<int32_t>> actions_;
  std::vector<std::vector<uint8_t>> legal_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_MOVING_ROOTS_H_
