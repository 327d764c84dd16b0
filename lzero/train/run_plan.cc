#include "lzero/train/run_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/env/env_rules.h"
#include "lzero/env/python/worker_registry.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/mcts/search.h"
#include "lzero/replay/batch/batch_writer.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/train/build.h"
#include "lzero/train/plan_text.h"
#include "lzero/train/run_rules.h"
#include "lzero/train/task/task_rules.h"
#include "lzero/train/update/task_weights.h"

namespace lzero {
namespace {

// Copies of every weight in the learner: model, gradient, two moments, target.
constexpr int64_t kLearnerCopies = 5;

// What libtorch and its threads take from their first use on, beside what is resident before.
constexpr int64_t kLibraryBytes = int64_t{64} << 20;

// Bytes of one worker process of this environment once an episode has begun; 0 where there is none.
absl::StatusOr<int64_t> WorkerBytes(const EnvConfig& config, const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const EnvRegistry::Entry* entry, registry.Find(config.id));
  if (!entry->group) return 0;  // each made alone, in this process
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(config.id, EnvOptionsOf(config)));
  if (env->batch() == nullptr) return 0;
  env->Reset(0);
  return env->batch()->ProcessBytes();
}

std::vector<WorldModelShape> ShapesOf(absl::Span<const EnvSpec> specs) {
  std::vector<WorldModelShape> shapes;
  for (const EnvSpec& spec : specs) shapes.push_back(BuildWorldModelShape(spec));
  return shapes;
}

// The part of the plan that is about `device`; null for the CPU.
DeviceMemoryPlan* PartOf(Device device, MemoryPlan* plan) {
  if (device.is_cpu()) return nullptr;
  const auto part = std::ranges::find(plan->devices, device, &DeviceMemoryPlan::device);
  if (part != plan->devices.end()) return &*part;
  plan->devices.push_back({.device = device, .context = kContextBytes + kModuleBytes});
  return &plan->devices.back();
}

// Numbers that the learner of several tasks, or one with adapters, holds beside its five copies:
// gradients of each task's network before they become one, twice more while they are compared; and
// networks of model and target with adapters merged.
int64_t NumBeside(absl::Span<const ExperimentConfig> tasks, const WeightCounts& counts) {
  const bool merges = tasks[0].multitask.adapter_rank > 0;
  if (tasks.size() == 1 && !merges) return 0;
  return (tasks.size() > 1 ? 3 : 1) * counts.of_views + (merges ? 2 : 0) * counts.of_views;
}

// The learner, the batches of its tasks, and the working memory of an update, which goes through
// them one by one.
absl::Status PlanLearner(const ExperimentConfig& config, absl::Span<const ExperimentConfig> tasks,
                         absl::Span<const EnvSpec> specs, MemoryPlan* plan) {
  const std::vector<WorldModelShape> shapes = ShapesOf(specs);
  LZ_ASSIGN_OR_RETURN(const WeightCounts counts, CountTaskWeights(tasks, shapes));
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  LearnerSizes sizes = {counts.kept};
  int64_t numbers = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const BatchShape batch = BatchShapeFor(tasks[i].replay, BuildReplayShape(tasks[i], specs[i]),
                                           static_cast<int>(tasks[i].train.batch_size));
    // As it is sampled, and as the learner reads it: bytes, and the numbers made of them.
    const bool are_bytes = batch.observation_type == ObservationType::kUint8;
    if (are_bytes) numbers += NumObservationElements(batch) * kFloat;
    sizes.batch += TrainBatchBytes(batch);
    sizes.update =
        std::max(sizes.update, FamilyOf(tasks[i].model).update_bytes(tasks[i], shapes[i]));
  }
  sizes.update += NumBeside(tasks, counts) * kFloat;
  plan->batch = 2 * sizes.batch;
  // A checkpoint copies the learner's state; the replay is written from where it lies.
  plan->checkpoint = (kLearnerCopies - 1) * counts.kept * kFloat;
  if (DeviceMemoryPlan* part = PartOf(config.learner_device(), plan); part != nullptr) {
    sizes.batch += numbers;
    const bool serve_one = tasks.size() == 1 || config.multitask.updates == UpdateTasks::kApart;
    sizes.num_recorded = serve_one ? static_cast<int64_t>(tasks.size()) : 0;
    AddLearner(config, sizes, part);
    return absl::OkStatus();
  }
  plan->learner = kLearnerCopies * counts.kept * kFloat;
  plan->batch += numbers;
  plan->update = sizes.update;
  return absl::OkStatus();
}

// A user of the model.
struct Role {
  const char* name;
  int64_t num_envs, num_simulations;
  int64_t num_threads;  // that may run its searches, one after the other
};

// Bytes that a forward pass over the roots of a role computes on the way, at most: what an update
// of as many samples would keep, which reads the same past.
int64_t ForwardBytes(ExperimentConfig config, const EnvSpec& spec, const Role& role) {
  const ModelFamily& family = FamilyOf(config.model);
  config.train.batch_size = role.num_envs;
  config.replay.num_unroll_steps = std::max<int64_t>(1, family.num_root_past_steps(config.model));
  config.replay.num_context_steps = 0;
  return family.update_bytes(config, BuildWorldModelShape(spec));
}

// The engine of a role and its search.
absl::Status PlanRole(const ExperimentConfig& config, const EnvSpec& spec,
                      const EnvRegistry& registry, const Role& role, MemoryPlan* plan) {
  const ModelFamily& family = FamilyOf(config.model);
  const EngineOptions options =
      BuildEngineOptions(config, spec, role.num_envs, role.num_simulations);
  const EnvFactory make_env = BuildEnvFactory(config, registry);
  LZ_ASSIGN_OR_RETURN(const int64_t bytes, EngineBytes(options, make_env));
  plan->tasks.back().roles.emplace_back(role.name, bytes);
  int64_t of_host = bytes;
  if (DeviceMemoryPlan* part = PartOf(config.inference.device, plan); part != nullptr) {
    LZ_ASSIGN_OR_RETURN(const int64_t states, family.state_bytes(options, make_env));
    of_host = states + PolicyEngine::SamplerBytes(options);
    AddEngine({bytes - of_host, ForwardBytes(config, spec, role),
               TensorFamilyOf(config.model).graph_nodes(options), role.num_threads},
              part);
  }
  plan->inference += of_host;
  const int width =
      std::max(NumSlots(options.search, options.shape), family.num_chance_outcomes(spec));
  plan->search += Search::PlannedBytes(options.search, width, role.num_envs);
  return absl::OkStatus();
}

// Engines, searches, environments and replay of a task. What overlaps the learner changes threads
// from step to step.
absl::Status PlanTask(const ExperimentConfig& config, const EnvSpec& spec,
                      const EnvRegistry& registry, MemoryPlan* plan) {
  const int64_t simulations = config.search.num_simulations;
  const int64_t num_threads = config.deterministic ? 1 : 2;
  std::vector<Role> roles = {{"collector", config.env.num_collectors, simulations, num_threads},
                             {"evaluator", config.env.num_evaluators,
                              config.evaluate.num_simulations.value_or(simulations), 1}};
  if (config.replay.reanalyzes()) {
    roles.push_back({"reanalyzer", ReanalyzeBatch(config), simulations, num_threads});
  }
  for (const Role& role : roles) {
    LZ_RETURN_IF_ERROR(PlanRole(config, spec, registry, role, plan));
  }
  LZ_ASSIGN_OR_RETURN(const int64_t worker_bytes, WorkerBytes(config.env, registry));
  for (const int64_t num_envs : {config.env.num_collectors, config.env.num_evaluators}) {
    const WorkerOptions workers = EnvOptionsOf(config.env).workers;
    plan->workers += worker_bytes * NumWorkers(workers, static_cast<int>(num_envs));
  }
  plan->tasks.back().replay = PlannedBytes(config.replay, BuildReplayShape(config, spec));
  plan->replay += plan->tasks.back().replay;
  return absl::OkStatus();
}

// What devices that are there have free. Others are left to who runs on them.
absl::Status CheckDevices(const std::vector<DeviceMemoryPlan>& devices) {
  for (const DeviceMemoryPlan& part : devices) {
    const absl::StatusOr<std::vector<std::string>> there = ListCudaDevices();
    if (!there.ok() || static_cast<size_t>(part.device.index) >= there->size()) continue;
    LZ_ASSIGN_OR_RETURN(const CudaMemory memory, FindCudaMemory(part.device.index));
    LZ_RETURN_IF_ERROR(CheckDeviceMemory(part, memory));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> WhatToLower(const MemoryPlan& plan) {
  const std::vector<std::pair<int64_t, std::vector<std::string>>> parts = {
      {plan.learner, {"model.embed_dim", "model.num_layers", "model.head_dim"}},
      {plan.batch, {"train.batch_size", "replay.num_unroll_steps"}},
      {plan.update,
       {"train.batch_size", "replay.num_unroll_steps", "model.encoder_channels",
        "model.embed_dim"}},
      {plan.search,
       {"search.num_simulations", "evaluate.num_simulations", "env.num_collectors",
        "env.num_evaluators"}},
      {plan.workers, {"env.num_workers"}},
      {plan.replay, {"replay.max_mebibytes", "replay.capacity"}},
      {plan.inference,
       {"env.num_collectors", "env.num_evaluators", "search.num_simulations",
        "model.context_length", "model.embed_dim"}}};
  // The first of equal parts wins.
  const auto smaller = [](const auto& a, const auto& b) { return a.first < b.first; };
  return std::max_element(parts.begin(), parts.end(), smaller)->second;
}

absl::StatusOr<MemoryPlan> PlanMemory(const ExperimentConfig& config,
                                      absl::Span<const EnvSpec> specs,
                                      const EnvRegistry& registry) {
  MemoryPlan plan;
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  LZ_RETURN_IF_ERROR(PlanLearner(config, tasks, specs, &plan));
  bool has_convolutions = false;
  for (size_t i = 0; i < tasks.size(); ++i) {
    plan.tasks.emplace_back();
    LZ_RETURN_IF_ERROR(PlanTask(tasks[i], specs[i], registry, &plan));
    has_convolutions = has_convolutions || tasks[i].model.encoder != EncoderKind::kVector;
  }
  for (DeviceMemoryPlan& part : plan.devices) part.has_convolutions = has_convolutions;
  plan.program = ResidentBytes() + kLibraryBytes;
  return plan;
}

absl::Status CheckMemoryPlan(const MemoryPlan& plan, int64_t machine_bytes) {
  if (plan.total() <= machine_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the run needs ", SizeText(plan.total()), " of memory, this machine has ",
                   SizeText(machine_bytes), ": ", PartsText(plan), "; lower ",
                   absl::StrJoin(WhatToLower(plan), " or ")));
}

absl::StatusOr<RunPlan> PlanRun(const ExperimentConfig& config, const EnvRegistry& registry) {
  RunPlan plan;
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  for (const ExperimentConfig& task : tasks) {
    LZ_ASSIGN_OR_RETURN(EnvSpec spec, BuildEnvSpec(task, registry));
    LZ_RETURN_IF_ERROR(FirstError(SpecErrors(task, spec)));
    plan.envs.push_back(std::move(spec));
  }
  LZ_RETURN_IF_ERROR(FirstError(SharingErrors(tasks, plan.envs)));
  LZ_ASSIGN_OR_RETURN(const WeightCounts counts, CountTaskWeights(tasks, ShapesOf(plan.envs)));
  plan.num_parameters = counts.kept;
  LZ_ASSIGN_OR_RETURN(plan.memory, PlanMemory(config, plan.envs, registry));
  LZ_RETURN_IF_ERROR(CheckMemoryPlan(plan.memory, MachineMemoryBytes()));
  LZ_RETURN_IF_ERROR(CheckDevices(plan.memory.devices));
  return plan;
}

}  // namespace lzero
