// Random settings of a search with the hash model, for tests that compare two searches. Not a test.
#ifndef LZERO_TESTS_MCTS_RANDOM_SETTING_H_
#define LZERO_TESTS_MCTS_RANDOM_SETTING_H_

#include <cstdint>
#include <vector>

#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/golden/hash_model.h"

namespace lzero {

struct Setting {
  SearchConfig config;
  HashModelOptions model;
  std::vector<uint8_t> legal;
  std::vector<float> gumbel;
};

inline Setting RandomSetting(RandomStream* stream) {
  Setting setting;
  SearchConfig& config = setting.config;
  config.policy = stream->Uniform() < 0.5 ? SearchPolicy::kPuct : SearchPolicy::kGumbel;
  config.q_transform = static_cast<QTransform>(stream->UniformInt(4));
  config.num_simulations = 1 + stream->UniformInt(stream->Uniform() < 0.5 ? 20 : 100);
  config.pb_c_init = 0.5 + 2.0 * stream->Uniform();
  config.min_max_delta = stream->Uniform() < 0.5 ? 0.01 : 1.0;
  config.max_num_considered_actions = 1 + stream->UniformInt(20);
  config.value_scale = stream->Uniform() < 0.5 ? 0.1 : 0.03;
  config.rescale_values = stream->Uniform() < 0.7;
  config.use_mixed_value = stream->Uniform() < 0.7;
  config.max_value = stream->Uniform() < 0.5 ? 1.0 : 3.0;
  if (stream->Uniform() < 0.4) config.max_depth = 1 + stream->UniformInt(5);
  const double discounts[] = {0.997, 0.9, -1.0, -0.9};
  setting.model.seed = stream->NextUint64();
  setting.model.num_actions = 1 + static_cast<int>(stream->UniformInt(24));
  setting.model.discount = static_cast<float>(discounts[stream->UniformInt(4)]);
  setting.model.value_scale = stream->Uniform() < 0.5 ? 1.0f : 4.0f;
  setting.model.terminal_fraction = stream->Uniform() < 0.3 ? 0.2 : 0.0;
  const bool some_illegal = stream->Uniform() < 0.4;
  for (int a = 0; a < setting.model.num_actions; ++a) {
    setting.legal.push_back(some_illegal && stream->Uniform() < 0.4 ? 0 : 1);
    setting.gumbel.push_back(static_cast<float>(stream->Gumbel()));
  }
  setting.legal[static_cast<size_t>(stream->UniformInt(setting.model.num_actions))] = 1;
  if (stream->Uniform() < 0.3) config.root_policy_temperature = 1.25;
  if (stream->Uniform() < 0.3) config.forced_playouts = 2.0;
  return setting;
}

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_RANDOM_SETTING_H_
