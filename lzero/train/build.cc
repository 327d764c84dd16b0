#include "lzero/train/build.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_rules.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {
namespace {

absl::StatusOr<std::unique_ptr<VectorEnv>> BuildEnvs(const ExperimentConfig& config,
                                                     const EnvRegistry& registry, int64_t num_envs,
                                                     bool random_openings, ThreadPool* pool) {
  EnvOptions options = EnvOptionsOf(config.env);
  if (!random_openings) options.random_opening_fraction = 0.0;
  std::vector<std::unique_ptr<Env>> envs;
  for (int64_t i = 0; i < num_envs; ++i) {
    LZ_ASSIGN_OR_RETURN(auto env, registry.Make(config.env.id, options));
    envs.push_back(std::move(env));
  }
  return VectorEnv::Create(std::move(envs), pool);
}

absl::StatusOr<std::unique_ptr<UniZeroInference>> BuildInference(const ExperimentConfig& config,
                                                                 const EnvSpec& spec,
                                                                 int64_t num_envs,
                                                                 int64_t num_simulations) {
  UniZeroInferenceOptions options;
  options.model = config.model;
  options.shape = BuildWorldModelShape(spec);
  options.inference = config.inference;
  options.num_envs = num_envs;
  options.num_simulations = num_simulations;
  options.discount = config.replay.discount;
  options.num_players = spec.num_players;
  return UniZeroInference::Create(options);
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

absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool) {
  const int64_t num_envs = config.env.num_collectors;
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, true, pool));
  CollectorRole role;
  LZ_ASSIGN_OR_RETURN(role.inference, BuildInference(config, envs->spec(), num_envs,
                                                     config.search.num_simulations));
  const uint64_t seed = StreamKey(static_cast<uint64_t>(config.seed), "collector");
  LZ_ASSIGN_OR_RETURN(auto agent,
                      Agent::Create(config.search, envs->spec().action.num_actions,
                                    static_cast<int>(num_envs), AgentOptions{seed, true}));
  CollectorOptions options;
  options.seed = seed;
  options.max_past_steps = NumRootPastSteps(config.model);
  role.collector = std::make_unique<Collector>(options, std::move(envs), std::move(agent),
                                               role.inference.get(), &role.inference->cache());
  return role;
}

absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool) {
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, false, pool));
  EvaluatorRole role;
  LZ_ASSIGN_OR_RETURN(role.inference,
                      BuildInference(config, envs->spec(), num_envs, num_simulations));
  SearchConfig search = config.search;
  search.num_simulations = num_simulations;
  const uint64_t seed = StreamKey(static_cast<uint64_t>(config.seed), "evaluator");
  LZ_ASSIGN_OR_RETURN(
      auto agent, Agent::Create(search, envs->spec().action.num_actions, static_cast<int>(num_envs),
                                AgentOptions{seed, true}));
  role.evaluator =
      std::make_unique<Evaluator>(NumRootPastSteps(config.model), std::move(envs), std::move(agent),
                                  role.inference.get(), &role.inference->cache());
  return role;
}

absl::StatusOr<std::unique_ptr<ReplayBuffer>> BuildReplay(const ExperimentConfig& config,
                                                          const EnvSpec& spec) {
  ReplayShape shape;
  shape.observation_size = static_cast<int>(spec.observation.size());
  shape.num_actions = spec.action.num_actions;
  shape.num_envs = static_cast<int>(config.env.num_collectors);
  shape.terminal = config.model.terminal;
  return ReplayBuffer::Create(config.replay, shape);
}

absl::StatusOr<std::string> DescribePlan(const ExperimentConfig& config,
                                         const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(config, registry));
  LZ_ASSIGN_OR_RETURN(const auto model, WorldModel::Create(config.model, BuildWorldModelShape(spec),
                                                           static_cast<uint64_t>(config.seed)));
  LZ_ASSIGN_OR_RETURN(const auto inference, BuildInference(config, spec, config.env.num_collectors,
                                                           config.search.num_simulations));
  ReplayShape shape;
  shape.observation_size = static_cast<int>(spec.observation.size());
  shape.num_actions = spec.action.num_actions;
  shape.num_envs = static_cast<int>(config.env.num_collectors);
  shape.terminal = config.model.terminal;
  const double mebibyte = 1024.0 * 1024.0;
  std::string plan;
  absl::StrAppendFormat(&plan, "environment   %s: observation [%s], %d actions, %d player%s\n",
                        spec.id, absl::StrJoin(spec.observation.shape, ", "),
                        spec.action.num_actions, spec.num_players,
                        spec.num_players == 1 ? "" : "s");
  absl::StrAppendFormat(&plan, "model         %d parameters, L %d, H %d, E %d, context %d tokens\n",
                        model->num_parameters(), config.model.num_layers, config.model.num_heads,
                        config.model.embed_dim, config.model.context_length);
  absl::StrAppendFormat(&plan, "search        %s, %d simulations, runner %s\n",
                        config.search.policy == SearchPolicy::kPuct ? "puct" : "gumbel",
                        config.search.num_simulations, inference->step().name());
  absl::StrAppendFormat(&plan, "training      batch %d, unroll %d, %g updates for each env step\n",
                        config.train.batch_size, config.replay.num_unroll_steps,
                        config.train.updates_per_env_step);
  absl::StrAppendFormat(
      &plan, "memory        replay up to %.0f MiB, cache %.1f MiB for each role\n",
      PlannedBytes(config.replay, shape) / mebibyte, inference->cache().stats().bytes / mebibyte);
  return plan;
}

}  // namespace lzero
