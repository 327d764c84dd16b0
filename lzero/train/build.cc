#include "lzero/train/build.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_rules.h"

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

}  // namespace

absl::StatusOr<EnvSpec> BuildEnvSpec(const ExperimentConfig& config, const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(config.env.id, EnvOptionsOf(config.env)));
  if (env->spec().action.kind != ActionKind::kDiscrete) {
    return absl::InvalidArgumentError(absl::StrCat(
        "env.id: ", config.env.id, " has box actions; this version trains discrete actions only"));
  }
  return env->spec();
}

WorldModelShape BuildWorldModelShape(const EnvSpec& spec) {
  return {spec.observation.shape, spec.action.num_actions};
}

ReplayShape BuildReplayShape(const ExperimentConfig& config, const EnvSpec& spec) {
  ReplayShape shape;
  shape.observation_size = static_cast<int>(spec.observation.size());
  shape.num_actions = spec.action.num_actions;
  shape.num_envs = static_cast<int>(config.env.num_collectors);
  shape.terminal = config.model.terminal;
  shape.symmetries = spec.symmetries;
  shape.num_root_past_steps = static_cast<int>(NumRootPastSteps(config.model));
  return shape;
}

UniZeroInferenceOptions BuildInferenceOptions(const ExperimentConfig& config, const EnvSpec& spec,
                                              int64_t num_envs, int64_t num_simulations) {
  UniZeroInferenceOptions options;
  options.model = config.model;
  options.shape = BuildWorldModelShape(spec);
  options.inference = config.inference;
  options.num_envs = num_envs;
  options.search = config.search;
  options.search.num_simulations = num_simulations;
  options.discount = config.replay.discount;
  options.num_players = spec.num_players;
  return options;
}

absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool) {
  const int64_t num_envs = config.env.num_collectors;
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, true, pool));
  CollectorRole role;
  UniZeroInferenceOptions inference =
      BuildInferenceOptions(config, envs->spec(), num_envs, config.search.num_simulations);
  inference.owner = "collector";
  LZ_ASSIGN_OR_RETURN(role.inference, UniZeroInference::Create(inference));
  const uint64_t seed = StreamKey(static_cast<uint64_t>(config.seed), "collector");
  LZ_ASSIGN_OR_RETURN(auto agent, Agent::Create(config.search, envs->spec().action.num_actions,
                                                static_cast<int>(num_envs),
                                                AgentOptions{seed, config.deterministic}));
  CollectorOptions options;
  options.seed = seed;
  options.max_past_steps = NumRootPastSteps(config.model);
  options.discount = config.replay.discount;
  role.collector = std::make_unique<Collector>(options, std::move(envs), std::move(agent),
                                               role.inference.get(), &role.inference->cache());
  return role;
}

absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool) {
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, false, pool));
  EvaluatorRole role;
  UniZeroInferenceOptions inference =
      BuildInferenceOptions(config, envs->spec(), num_envs, num_simulations);
  inference.owner = "evaluator";
  LZ_ASSIGN_OR_RETURN(role.inference, UniZeroInference::Create(inference));
  SearchConfig search = config.search;
  search.num_simulations = num_simulations;
  const uint64_t seed = StreamKey(static_cast<uint64_t>(config.seed), "evaluator");
  // Always the first of equal actions: an evaluation depends on the checkpoint alone, not on how
  // many searches were made before it.
  LZ_ASSIGN_OR_RETURN(
      auto agent, Agent::Create(search, envs->spec().action.num_actions, static_cast<int>(num_envs),
                                AgentOptions{seed, true}));
  role.evaluator =
      std::make_unique<Evaluator>(NumRootPastSteps(config.model), std::move(envs), std::move(agent),
                                  role.inference.get(), &role.inference->cache());
  return role;
}

absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool) {
  return BuildEvaluator(config, registry, config.env.num_evaluators,
                        config.evaluate.num_simulations.value_or(config.search.num_simulations),
                        pool);
}

absl::StatusOr<std::unique_ptr<ReplayBuffer>> BuildReplay(const ExperimentConfig& config,
                                                          const EnvSpec& spec) {
  return ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec));
}

}  // namespace lzero
