// What tests of engines that simulate with the environment share: environments, options, and roots
// with states. Not a test; no thread rule.
#ifndef LZERO_TESTS_FAMILY_ALPHAZERO_ENV_SCENE_H_
#define LZERO_TESTS_FAMILY_ALPHAZERO_ENV_SCENE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "envs/register_all.h"
#include "lzero/env/env_registry.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Environments of the program.
inline EnvFactory NativeFactory(const std::string& id, int64_t max_episode_steps = 0) {
  return [=]() {
    EnvRegistry registry;
    RegisterAllEnvs(registry);
    EnvOptions options;
    options.max_episode_steps = max_episode_steps;
    return registry.Make(id, options);
  };
}

// Options of an engine with a tiny network; discount 0.9.
inline EngineOptions SmallOptions(const EnvSpec& spec, int64_t num_envs, int64_t num_simulations) {
  EngineOptions options;
  options.model.encoder_width = 16;
  options.model.embed_dim = 8;
  options.model.head_dim = 12;
  options.model.support_size = 21;
  options.shape = {spec.observation.shape, spec.action.num_actions};
  options.num_envs = num_envs;
  options.search.num_simulations = num_simulations;
  options.discount = 0.9;
  options.num_players = spec.num_players;
  return options;
}

// Positions of one environment, and roots that stand there.
class Positions {
 public:
  void Add(Env& env, const TimeStep& step) {
    steps_.push_back(step);
    states_.push_back(env.Save().value());
  }
  std::vector<Root> Roots() const {
    std::vector<Root> roots(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      roots[i].env = EnvId(static_cast<int64_t>(i));
      roots[i].observations = steps_[i].observation;
      roots[i].to_play = steps_[i].to_play;
      roots[i].legal_action_mask = steps_[i].legal_action_mask;
      roots[i].state = states_[i];
    }
    return roots;
  }
  const TimeStep& step(size_t i) const { return steps_[i]; }
  size_t size() const { return steps_.size(); }

 private:
  std::vector<TimeStep> steps_;
  std::vector<std::string> states_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_ALPHAZERO_ENV_SCENE_H_
