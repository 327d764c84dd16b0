#include "lzero/train/build.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_rules.h"
#include "lzero/family/families.h"
#include "lzero/mcts/search.h"

namespace lzero {
namespace {

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

uint64_t SeedOf(const ExperimentConfig& config, const char* role) {
  return StreamKey(static_cast<uint64_t>(config.seed), role);
}

// Makes the engine of `role` and the agent that searches with it. `registry` may be gone when it
// returns.
absl::StatusOr<std::unique_ptr<Agent>> BuildAgent(const char* role, const ExperimentConfig& config,
                                                  const EnvRegistry& registry, const EnvSpec& spec,
                                                  int64_t num_envs, int64_t num_simulations,
                                                  bool deterministic_ties,
                                                  std::unique_ptr<InferenceEngine>* engine) {
  EngineOptions options = BuildEngineOptions(config, spec, num_envs, num_simulations);
  options.owner = config.name.empty() ? role : absl::StrCat(config.name, " ", role);
  LZ_ASSIGN_OR_RETURN(
      *engine, FamilyOf(config.model).make_engine(options, BuildEnvFactory(config, registry)));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, engine->get()));
  return std::make_unique<Agent>(
      std::move(searcher),
      AgentOptions{SeedOf(config, role), deterministic_ties, spec.action.num_actions});
}

}  // namespace

EnvFactory BuildEnvFactory(const ExperimentConfig& config, const EnvRegistry& registry) {
  return [&config, &registry] { return registry.Make(config.env.id, EnvOptionsOf(config.env)); };
}

absl::StatusOr<EnvSpec> BuildEnvSpec(const ExperimentConfig& config, const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(config.env.id, EnvOptionsOf(config.env)));
  return env->spec();
}

WorldModelShape BuildWorldModelShape(const EnvSpec& spec) {
  return {spec.observation.shape, spec.action.num_actions, spec.action.dim(),
          spec.num_chance_outcomes};
}

ReplayShape BuildReplayShape(const ExperimentConfig& config, const EnvSpec& spec) {
  ReplayShape shape;
  shape.observation_size = static_cast<int>(spec.observation.size());
  shape.num_actions = spec.action.kind == ActionKind::kBox
                          ? NumSlots(config.search, BuildWorldModelShape(spec))
                          : spec.action.num_actions;
  shape.action_dim = static_cast<int>(spec.action.dim());
  shape.num_chance_outcomes = FamilyOf(config.model).num_chance_outcomes(spec);
  shape.num_envs = static_cast<int>(config.env.num_collectors);
  shape.terminal = config.model.terminal;
  shape.symmetries = spec.symmetries;
  if (shape.num_chance_outcomes == 0) {  // replay stores no outcomes to map
    for (Symmetry& symmetry : shape.symmetries) symmetry.chance_image.clear();
  }
  shape.observation_type = spec.observation.type;
  shape.frame_stack = static_cast<int>(spec.observation.frame_stack);
  shape.observation_shape = spec.observation.shape;
  shape.num_root_past_steps =
      static_cast<int>(FamilyOf(config.model).num_root_past_steps(config.model));
  return shape;
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

absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool) {
  const int64_t num_envs = config.env.num_collectors;
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, true, pool));
  CollectorRole role;
  LZ_ASSIGN_OR_RETURN(
      auto agent, BuildAgent("collector", config, registry, envs->spec(), num_envs,
                             config.search.num_simulations, config.deterministic, &role.inference));
  const CollectorOptions options = {SeedOf(config, "collector"),
                                    FamilyOf(config.model).num_root_past_steps(config.model),
                                    config.replay.discount};
  role.collector =
      std::make_unique<Collector>(options, std::move(envs), std::move(agent), role.inference.get());
  return role;
}

absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool,
                                             int64_t num_roots) {
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, false, pool));
  EvaluatorRole role;
  // Always the first of equal actions: an evaluation depends on the checkpoint alone, not on how
  // many searches were made before it.
  LZ_ASSIGN_OR_RETURN(auto agent, BuildAgent("evaluator", config, registry, envs->spec(),
                                             num_roots > 0 ? num_roots : num_envs, num_simulations,
                                             /*deterministic_ties=*/true, &role.inference));
  role.evaluator = std::make_unique<Evaluator>(
      FamilyOf(config.model).num_root_past_steps(config.model), config.replay.discount,
      std::move(envs), std::move(agent), role.inference.get());
  return role;
}

absl::StatusOr<ReanalyzerRole> BuildReanalyzer(const ExperimentConfig& config,
                                               const EnvRegistry& registry) {
  ReanalyzerRole role;
  if (config.replay.reanalyze_ratio == 0.0) return role;
  LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(config, registry));
  const int64_t batch_size = config.env.num_collectors;
  LZ_ASSIGN_OR_RETURN(
      auto agent, BuildAgent("reanalyzer", config, registry, spec, batch_size,
                             config.search.num_simulations, config.deterministic, &role.inference));
  role.reanalyzer = std::make_unique<Reanalyzer>(static_cast<int>(batch_size), std::move(agent),
                                                 role.inference.get());
  return role;
}

}  // namespace lzero
