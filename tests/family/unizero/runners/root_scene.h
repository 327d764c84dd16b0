// Roots of a few environments at different steps, with the cache and contexts that a root runner
// needs: for tests of runners.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_ROOT_SCENE_H_
#define LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_ROOT_SCENE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/base/rng.h"
#include "lzero/family/unizero/engine/root_contexts.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero {

// Observes four numbers.
inline std::shared_ptr<WorldModel> SceneModel(int64_t num_actions) {
  ModelConfig config;
  config.embed_dim = 16;
  config.num_heads = 2;
  config.context_length = 6;
  config.support_size = 21;
  config.encoder_width = 16;
  return RandomModel(config, {{4}, num_actions}, 5);
}

// Observations and actions of one environment from its first step on.
struct SceneEpisode {
  std::vector<std::vector<float>> observations;
  std::vector<int32_t> actions;
};

inline std::vector<SceneEpisode> RandomEpisodes(int num_envs, int num_steps,
                                                int64_t observation_size, int64_t num_actions,
                                                uint64_t seed) {
  RandomStream random(seed, "root scene");
  std::vector<SceneEpisode> episodes(num_envs);
  for (SceneEpisode& episode : episodes) {
    for (int t = 0; t <= num_steps; ++t) {
      std::vector<float> observation(observation_size);
      for (float& number : observation) number = static_cast<float>(random.Normal());
      episode.observations.push_back(observation);
      episode.actions.push_back(static_cast<int32_t>(random.UniformInt(num_actions)));
    }
  }
  return episodes;
}

// The roots of all episodes, environment e at step `steps[e]`, with all of its past.
class SceneRoots {
 public:
  SceneRoots(const std::vector<SceneEpisode>& episodes, const std::vector<int64_t>& steps) {
    pasts_.resize(steps.size());
    for (size_t e = 0; e < steps.size(); ++e) {
      for (int64_t t = 0; t <= steps[e]; ++t) {
        const std::vector<float>& observation = episodes[e].observations[t];
        pasts_[e].insert(pasts_[e].end(), observation.begin(), observation.end());
      }
      Root root;
      root.env = EnvId(static_cast<int32_t>(e));
      root.observations = pasts_[e];
      root.actions = absl::MakeConstSpan(episodes[e].actions).first(steps[e]);
      root.step = steps[e];
      roots_.push_back(root);
      rows_.push_back(static_cast<int>(e));
    }
  }
  absl::Span<const Root> roots() const { return roots_; }
  absl::Span<const int> rows() const { return rows_; }

 private:
  std::vector<std::vector<float>> pasts_;
  std::vector<Root> roots_;
  std::vector<int> rows_;
};

// A cache for `num_envs` environments of `model`, and the contexts that write into it.
struct SceneCache {
  SceneCache(const WorldModel& model, int64_t num_envs) {
    KVCacheManagerConfig config;
    config.shape = {model.config().num_layers, model.config().embed_dim};
    config.context_length = model.config().context_length;
    config.num_envs = num_envs;
    config.nodes_per_env = 2;
    cache = KVCacheManager::Create(config).value();
    contexts = std::make_unique<RootContexts>(cache.get());
  }
  std::unique_ptr<KVCacheManager> cache;
  std::unique_ptr<RootContexts> contexts;
};

// What a runner wrote; NaN before.
struct SceneOutputs {
  SceneOutputs(size_t num_roots, int64_t num_actions)
      : logits(num_roots * static_cast<size_t>(num_actions), std::nanf("")),
        values(num_roots, std::nanf("")) {}
  RootOutputs spans() { return {absl::MakeSpan(logits), absl::MakeSpan(values)}; }
  std::vector<float> logits, values;
};

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_ROOT_SCENE_H_
