#include "lzero/train/build.h"

#include <algorithm>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/mcts/search.h"

namespace lzero {

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
  shape.num_root_past_steps = static_cast<int>(MaxPastSteps(config.model, spec));
  shape.reads_sequences = FamilyOf(config.model).reads_sequences;
  shape.has_network_values =
      config.replay.prioritized && config.replay.initial_priority == InitialPriority::kOwnError;
  shape.has_search_times = config.replay.fresh_updates > 0;
  shape.reset_updates = config.train.reset_every_updates;
  return shape;
}

absl::StatusOr<CollectorRole> BuildCollector(const ExperimentConfig& config,
                                             const EnvRegistry& registry, ThreadPool* pool) {
  const int64_t num_envs = config.env.num_collectors;
  LZ_ASSIGN_OR_RETURN(auto envs, BuildEnvs(config, registry, num_envs, true, pool));
  CollectorRole role;
  LZ_ASSIGN_OR_RETURN(auto agent, BuildAgent("collector", config, registry, envs->spec(), num_envs,
                                             config.search.num_simulations, config.deterministic,
                                             MakeEngine, &role.inference));
  if (config.search.cheap_fraction > 0.0) {
    SearchConfig cheap = config.search;
    cheap.num_simulations = cheap.cheap_num_simulations;
    LZ_ASSIGN_OR_RETURN(auto searcher, Search::Create(cheap, role.inference->num_actions(),
                                                      static_cast<int>(num_envs),
                                                      role.inference->num_chance_outcomes()));
    agent->set_cheap_searcher(std::move(searcher));
  }
  const CollectorOptions options = {
      RoleSeed(config, "collector"), MaxPastSteps(config.model, envs->spec()),
      config.replay.discount, config.env.count_bonus, config.env.count_bonus_once};
  role.collector =
      std::make_unique<Collector>(options, std::move(envs), std::move(agent), role.inference.get());
  return role;
}

absl::StatusOr<EvaluatorRole> BuildEvaluator(const ExperimentConfig& config,
                                             const EnvRegistry& registry, int64_t num_envs,
                                             int64_t num_simulations, ThreadPool* pool) {
  return BuildPlayer(MakeEngine, config, registry, num_envs, num_simulations, pool);
}

int64_t ReanalyzeBatch(const ExperimentConfig& config) {
  const double most =
      config.replay.ReanalyzeRatioAt(config.replay.capacity, config.train.updates_per_env_step);
  const double owed =
      most * static_cast<double>(config.env.num_collectors * config.train.steps_per_round);
  return std::max(config.env.num_collectors, static_cast<int64_t>(std::min(owed, 64.0)));
}

absl::StatusOr<ReanalyzerRole> BuildReanalyzer(const ExperimentConfig& config,
                                               const EnvRegistry& registry) {
  ReanalyzerRole role;
  if (!config.replay.reanalyzes()) return role;
  LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(config, registry));
  const int64_t batch_size = ReanalyzeBatch(config);
  LZ_ASSIGN_OR_RETURN(auto agent, BuildAgent("reanalyzer", config, registry, spec, batch_size,
                                             config.search.num_simulations, config.deterministic,
                                             MakeEngine, &role.inference));
  role.reanalyzer = std::make_unique<Reanalyzer>(static_cast<int>(batch_size), std::move(agent),
                                                 role.inference.get());
  return role;
}

}  // namespace lzero
