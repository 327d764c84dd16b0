#include "lzero/player/build_player.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_rules.h"
#include "lzero/family/packed/families.h"
#include "lzero/mcts/search.h"

namespace lzero {

uint64_t RoleSeed(const ExperimentConfig& config, const char* role) {
  return StreamKey(static_cast<uint64_t>(config.seed), role);
}

EnvFactory BuildEnvFactory(const ExperimentConfig& config, const EnvRegistry& registry) {
  return [&config, &registry] { return registry.Make(config.env.id, EnvOptionsOf(config.env)); };
}

absl::StatusOr<EnvSpec> BuildEnvSpec(const ExperimentConfig& config, const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(config.env.id, EnvOptionsOf(config.env)));
  return env->spec();
}

int64_t MaxPastSteps(const ModelConfig& model, const EnvSpec& spec) {
  return spec.num_players == 2 ? 0 : FamilyOf(model).num_root_past_steps(model);
}

WorldModelShape BuildWorldModelShape(const EnvSpec& spec) {
  return {spec.observation.shape, spec.action.num_actions, spec.action.dim(),
          spec.num_chance_outcomes, spec.action.places};
}

absl::StatusOr<std::unique_ptr<VectorEnv>> BuildEnvs(const ExperimentConfig& config,
                                                     const EnvRegistry& registry, int64_t num_envs,
                                                     bool is_training, ThreadPool* pool) {
  EnvOptions options = EnvOptionsOf(config.env);
  if (!is_training) options.random_opening_fraction = 0.0;
  options.is_training = is_training;
  LZ_ASSIGN_OR_RETURN(auto envs,
                      registry.MakeGroup(config.env.id, options, static_cast<int>(num_envs)));
  return VectorEnv::Create(std::move(envs), pool);
}

EngineOptions BuildEngineOptions(const ExperimentConfig& config, const EnvSpec& spec,
                                 int64_t num_envs, int64_t num_simulations) {
  EngineOptions options = {config.model,  BuildWorldModelShape(spec), config.inference, num_envs,
                           config.search, config.replay.discount,     spec.num_players};
  options.search.num_simulations = num_simulations;
  return options;
}

absl::StatusOr<std::unique_ptr<Searcher>> BuildSearcher(const EngineOptions& options,
                                                        InferenceEngine* engine) {
  LZ_ASSIGN_OR_RETURN(auto on_device, engine->MakeDeviceSearcher());
  if (on_device != nullptr) return on_device;
  return Search::Create(options.search, engine->num_actions(), static_cast<int>(options.num_envs),
                        engine->num_chance_outcomes());
}

absl::StatusOr<std::unique_ptr<Agent>> BuildAgent(const char* role, const ExperimentConfig& config,
                                                  const EnvRegistry& registry, const EnvSpec& spec,
                                                  int64_t num_envs, int64_t num_simulations,
                                                  bool deterministic_ties,
                                                  const EngineMaker& make_engine,
                                                  std::unique_ptr<InferenceEngine>* engine) {
  EngineOptions options = BuildEngineOptions(config, spec, num_envs, num_simulations);
  options.owner = config.name.empty() ? role : absl::StrCat(config.name, " ", role);
  LZ_ASSIGN_OR_RETURN(*engine, make_engine(options, BuildEnvFactory(config, registry)));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, engine->get()));
  return std::make_unique<Agent>(
      std::move(searcher),
      AgentOptions{RoleSeed(config, role), deterministic_ties, spec.action.num_actions});
}

absl::StatusOr<EvaluatorRole> BuildPlayer(const EngineMaker& make_engine,
                                          const ExperimentConfig& config,
                                          const EnvRegistry& registry, int64_t num_envs,
                                          int64_t num_simulations, ThreadPool* pool,
                                          int64_t num_roots) {
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, false, pool));
  EvaluatorRole role;
  // Always the first of equal actions: an evaluation depends on the checkpoint alone, not on how
  // many searches were made before it.
  LZ_ASSIGN_OR_RETURN(auto agent,
                      BuildAgent("evaluator", config, registry, envs->spec(),
                                 num_roots > 0 ? num_roots : num_envs, num_simulations,
                                 /*deterministic_ties=*/true, make_engine, &role.inference));
  const int64_t num_past_steps = MaxPastSteps(config.model, envs->spec());
  role.evaluator =
      std::make_unique<Evaluator>(num_past_steps, config.replay.discount, std::move(envs),
                                  std::move(agent), role.inference.get());
  return role;
}

}  // namespace lzero
