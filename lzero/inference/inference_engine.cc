#include "lzero/inference/inference_engine.h"

#include <algorithm>

namespace lzero {
namespace {

ActionSamplerOptions SamplerOptions(const EngineOptions& options) {
  ActionSamplerOptions sampler;
  sampler.num_actions = static_cast<int>(options.shape.num_actions);
  sampler.action_dim = static_cast<int>(options.shape.action_dim);
  sampler.num_slots = static_cast<int>(*options.search.num_sampled_actions);
  sampler.max_roots = static_cast<int>(options.num_envs);
  sampler.nodes_per_root = static_cast<int>(options.search.num_simulations + 1);
  sampler.temperature = options.search.sample_temperature;
  sampler.uniform_fraction = options.search.uniform_sample_fraction;
  return sampler;
}

}  // namespace

std::unique_ptr<ActionSampler> MakeActionSampler(const EngineOptions& options) {
  if (!options.search.num_sampled_actions.has_value()) return nullptr;
  return std::make_unique<ActionSampler>(SamplerOptions(options));
}

int64_t ActionSamplerBytes(const EngineOptions& options) {
  if (!options.search.num_sampled_actions.has_value()) return 0;
  return ActionSampler::Bytes(SamplerOptions(options));
}

}  // namespace lzero
