#include "lzero/player/agent_loader.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/env/env_rules.h"
#include "lzero/env/plugin.h"
#include "lzero/player/play_rules.h"
#include "lzero/player/stored_weights.h"
#include "lzero/player/weight_names.h"

namespace lzero {

absl::StatusOr<std::string> FindAgentCheckpoint(const std::string& path) {
  const std::string best = JoinPath(path, "checkpoints/best");
  return FindCheckpoint(FileExists(best) ? best : path);
}

namespace {

// A run that went on may have been told where modules and plugins are now: that stands in the run's
// config, not in those of its older checkpoints.
void FollowRun(const std::string& checkpoint, ExperimentConfig* config) {
  const auto checkpoints = std::filesystem::path(checkpoint).parent_path();
  if (checkpoints.filename() != "checkpoints") return;
  const std::string path = (checkpoints.parent_path() / "config.resolved.yaml").string();
  const auto text = ReadFile(path);
  if (!text.ok()) return;
  const auto whole = ParseResolvedConfig(*text, path);
  if (!whole.ok()) return;
  const auto run = FindTask(*whole, config->name);
  if (!run.ok() || run->env.id != config->env.id) return;
  config->env.python_path = run->env.python_path;
  config->plugins = run->plugins;
}

// Drops the choices that were made for a device.
void MoveTo(const Device& device, InferenceConfig* inference) {
  inference->runner = Runner::kAuto;
  inference->graphs = Graphs::kPreferred;
  inference->dtype = InferenceDtype::kFp32;
  inference->cache_storage = CacheStorage::kStatic;
  inference->device = device;
}

// Packed networks on the CPU, whatever the run had.
void ForgetTorch(InferenceConfig* inference) {
  if (!inference->device.is_cpu()) MoveTo(Device::kCpu, inference);
  if (inference->runner == Runner::kEager) inference->runner = Runner::kAuto;
}

// Where and how the agent's networks run.
void ChooseInference(const LoadAgentOptions& options, ExperimentConfig* config) {
  InferenceConfig& inference = config->inference;
  const Device device = options.device.value_or(inference.device);
  if (device.kind != inference.device.kind) MoveTo(device, &inference);
  inference.device = device;
  const bool may_record_searches =
      inference.runner == Runner::kCudaSearchGraph ||
      (inference.runner == Runner::kAuto && inference.device.is_cuda() &&
       inference.graphs != Graphs::kOff && config->model.family == Family::kUniZero);
  if (options.shows_trees && may_record_searches) inference.runner = Runner::kCudaGraph;
}

// Puts settings over those of the run; others than these say what the weights are.
absl::Status Override(const LoadAgentOptions& options, const EnvSpec& spec,
                      ExperimentConfig* config) {
  const std::vector<std::string>& settings = options.settings;
  const bool sets_simulations = std::ranges::any_of(settings, [](const std::string& text) {
    return absl::StartsWith(text, "search.num_simulations=");
  });
  for (const std::string& setting : settings) {
    if (absl::StartsWith(setting, "search.") || absl::StartsWith(setting, "inference.")) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(setting,
                     ": not of how a checkpoint plays; allowed: search.NAME=VALUE, "
                     "inference.NAME=VALUE"));
  }
  if (sets_simulations && options.simulations.has_value()) {
    return absl::InvalidArgumentError(
        "search.num_simulations: --sims or RUN@N says it already; leave one out");
  }
  config->search.cheap_fraction = 0.0;  // of collection alone; it would bound num_simulations
  const ConfigRule rule = [&](const ExperimentConfig& with) {
    return PlaySettingErrors(with, spec, settings);
  };
  LZ_ASSIGN_OR_RETURN(
      LoadedConfig loaded,
      LoadConfigText(ResolvedYaml(*config), "the checkpoint's config", settings, rule));
  loaded.config.name = config->name;
  if (sets_simulations) loaded.config.evaluate.num_simulations.reset();
  *config = std::move(loaded.config);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ExperimentConfig>> FindTaskConfigs(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string checkpoint, FindAgentCheckpoint(path));
  const std::string config_path = JoinPath(checkpoint, "config.resolved.yaml");
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(config_path));
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, ParseResolvedConfig(text, config_path));
  return TaskConfigs(config);
}

absl::StatusOr<LoadedAgent> LoadAgent(const std::string& path, const EnvRegistry& registry,
                                      const LoadAgentOptions& options, ThreadPool* pool) {
  LoadedAgent agent;
  // The checkpoint and its config.
  LZ_ASSIGN_OR_RETURN(agent.checkpoint_path, FindAgentCheckpoint(path));
  const std::vector<std::string> wanted = {"model"};
  LZ_ASSIGN_OR_RETURN(const LoadedCheckpoint loaded, ReadCheckpoint(agent.checkpoint_path, wanted));
  LZ_ASSIGN_OR_RETURN(agent.config,
                      ParseResolvedConfig(loaded.content.config_yaml,
                                          JoinPath(agent.checkpoint_path, "config.resolved.yaml")));
  const size_t num_tasks = TaskConfigs(agent.config).size();
  absl::StatusOr<ExperimentConfig> task = FindTask(agent.config, options.task);
  LZ_RETURN_IF_ERROR(Annotate(task.status(), "task"));
  agent.config = *std::move(task);
  FollowRun(loaded.path, &agent.config);
  agent.env_steps = loaded.env_steps;
  // The environments.
  if (!options.plugins.empty()) agent.config.plugins = AbsolutePluginPaths(options.plugins);
  absl::StatusOr<EnvRegistry> with_plugins = RegistryWithPlugins(agent.config, registry);
  LZ_RETURN_IF_ERROR(Annotate(with_plugins.status(), "plugins"));
  agent.registry = *std::move(with_plugins);
  if (options.packed_alone) ForgetTorch(&agent.config.inference);
  if (options.num_threads.has_value()) agent.config.inference.num_threads = options.num_threads;
  if (!options.settings.empty()) {
    LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(agent.config, agent.registry));
    LZ_RETURN_IF_ERROR(Annotate(Override(options, spec, &agent.config), "settings"));
  }
  ChooseInference(options, &agent.config);
  // The evaluator.
  agent.num_simulations = options.simulations.value_or(
      agent.config.evaluate.num_simulations.value_or(agent.config.search.num_simulations));
  const int64_t envs = options.num_envs > 0 ? options.num_envs : agent.config.env.num_evaluators;
  LZ_ASSIGN_OR_RETURN(agent.role,
                      BuildPlayer(options.make_engine, agent.config, agent.registry, envs,
                                  agent.num_simulations, pool, options.num_roots));
  // The weights.
  const StoredWeights weights(agent.config, num_tasks, loaded.content.files.at("model"));
  LZ_RETURN_IF_ERROR(agent.role.inference->CopyWeightsFrom(weights));
  LZ_RETURN_IF_ERROR(
      Annotate(weights.Check(), absl::StrCat(agent.checkpoint_path, "/model.safetensors")));
  return agent;
}

}  // namespace lzero
