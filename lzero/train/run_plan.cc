#include "lzero/train/run_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
#include "lzero/run/progress.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/train/build.h"
#include "lzero/train/run_rules.h"
#include "lzero/train/task/task_rules.h"
#include "lzero/train/update/task_weights.h"

namespace lzero {
namespace {

// Copies of every weight in the learner: model, gradient, two moments, target.
constexpr int64_t kLearnerCopies = 5;

// What libtorch and its threads take from their first use on, beside what is resident before.
constexpr int64_t kLibraryBytes = int64_t{64} << 20;

std::string PartsText(const MemoryPlan& plan) {
  return absl::StrCat(
      "learner ", SizeText(plan.learner), ", batch ", SizeText(plan.batch), ", an update up to ",
      SizeText(plan.update), ", inference ", SizeText(plan.inference), ", search ",
      SizeText(plan.search), ", replay up to ", SizeText(plan.replay), ", a checkpoint ",
      SizeText(plan.checkpoint), ", the program and its libraries ", SizeText(plan.program),
      plan.workers == 0 ? "" : absl::StrCat(", workers of Python ", SizeText(plan.workers)));
}

// Bytes of one worker process of this environment once an episode has begun; 0 where there is none.
absl::StatusOr<int64_t> WorkerBytes(const EnvConfig& config, const EnvRegistry& registry) {
  LZ_ASSIGN_OR_RETURN(const EnvRegistry::Entry* entry, registry.Find(config.id));
  if (!entry->group) return 0;  // each made alone, in this process
  LZ_ASSIGN_OR_RETURN(const auto env, registry.Make(config.id, EnvOptionsOf(config)));
  if (env->batch() == nullptr) return 0;
  env->Reset(0);
  return env->batch()->ProcessBytes();
}

std::string ActionsText(const ActionSpec& action) {
  if (action.kind == ActionKind::kDiscrete) return absl::StrCat(action.num_actions, " actions");
  return absl::StrCat("actions of ", action.dim(), action.dim() == 1 ? " number" : " numbers");
}

std::string SamplesText(const SearchConfig& search) {
  if (!search.num_sampled_actions.has_value()) return "";
  return absl::StrCat(", ", *search.num_sampled_actions, " sampled actions");
}

// "a mean return of 195 in 3 evaluations in a row".
std::string TargetText(const ExperimentConfig& config) {
  const int64_t patience = config.stop.patience;
  return absl::StrFormat(
      "%s of %g in %s",
      config.score.measure == ScoreMeasure::kGrade ? "a share of optimal moves" : "a mean return",
      *config.stop.target_return,
      patience == 1 ? "an evaluation" : absl::StrCat(patience, " evaluations in a row"));
}

// What ends the run: "after 20,000 env steps, or with a mean return of 195 in an evaluation".
std::string StopText(absl::Span<const ExperimentConfig> tasks) {
  const StopConfig& stop = tasks[0].stop;
  std::vector<std::string> rules;
  if (tasks.size() > 1) rules.emplace_back("after the env steps of every task");
  if (tasks.size() == 1 && stop.max_env_steps.has_value()) {
    rules.push_back(absl::StrCat("after ", FormatCount(*stop.max_env_steps), " env steps"));
  }
  if (stop.max_updates.has_value()) {
    rules.push_back(absl::StrCat("after ", FormatCount(*stop.max_updates), " updates"));
  }
  const auto has_target = [](const auto& task) { return task.stop.target_return.has_value(); };
  if (stop.end_at_target && std::ranges::all_of(tasks, has_target)) {
    rules.push_back(tasks.size() > 1 ? "when all tasks are at their targets at once"
                                     : absl::StrCat("with ", TargetText(tasks[0])));
  }
  return absl::StrJoin(rules, ", or ");
}

// The rest of the plan, for those who ask for it.
void AppendDetails(const ExperimentConfig& config, const EnvSpec& spec, std::string_view runner,
                   std::string* text) {
  absl::StrAppend(text, "runner        ", std::string(runner), "\n");
  absl::StrAppendFormat(text, "training      batch %d, unroll %d, %g updates for each env step\n",
                        config.train.batch_size, config.replay.num_unroll_steps,
                        config.train.updates_per_env_step);
  const ReplayShape replay = BuildReplayShape(config, spec);
  absl::StrAppendFormat(
      text, "replay        up to %d transitions, %.1f KiB each in long episodes: %s%s\n",
      ReplayMaxTransitions(config.replay, replay),
      BytesPerTransition(config.replay, replay) / 1024.0,
      ObservationTypeName(replay.observation_type),
      replay.frame_stack > 1
          ? absl::StrCat(", each of ", replay.frame_stack, " stacked frames once")
          : "");
}

void AppendEnvironment(const EnvSpec& env, std::string* text) {
  absl::StrAppendFormat(text, "environment   %s: observation [%s], %s, %d player%s\n", env.id,
                        absl::StrJoin(env.observation.shape, ", "), ActionsText(env.action),
                        env.num_players, env.num_players == 1 ? "" : "s");
}

// What an only task does, beside its environment and model.
void AppendTask(const ExperimentConfig& config, const EnvSpec& spec, std::string_view runner,
                bool detailed, std::string* text) {
  absl::StrAppendFormat(text, "search        %s, %d simulations a move%s\n",
                        ValueText(config, "search.policy"), config.search.num_simulations,
                        SamplesText(config.search));
  if (detailed) AppendDetails(config, spec, runner, text);
  const double reanalyzed = config.replay.reanalyze_ratio;
  if (reanalyzed > 0.0) {
    absl::StrAppendFormat(text,
                          "reanalyze     %g stored positions searched again for each env step: %g "
                          "searches a step in the place of 1\n",
                          reanalyzed, 1.0 + reanalyzed);
  }
}

// One of several tasks, on a line.
std::string TaskText(const ExperimentConfig& config, const EnvSpec& spec) {
  std::string text = absl::StrFormat(
      "%s: observation [%s], %s; %d simulations%s; batch %d, unroll %d, %g updates a step", spec.id,
      absl::StrJoin(spec.observation.shape, ", "), ActionsText(spec.action),
      config.search.num_simulations, SamplesText(config.search), config.train.batch_size,
      config.replay.num_unroll_steps, config.train.updates_per_env_step);
  if (config.stop.max_env_steps.has_value()) {
    absl::StrAppend(&text, "; ", FormatCount(*config.stop.max_env_steps), " env steps");
  }
  if (config.stop.target_return.has_value())
    absl::StrAppend(&text, "; target ", TargetText(config));
  return text;
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
  if (config.replay.reanalyze_ratio > 0.0) {
    roles.push_back({"reanalyzer", config.env.num_collectors, simulations, num_threads});
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

// "244.0 MiB planned", or "244.0 MiB of this machine, 1.1 GiB of cuda:0 planned" with the parts of
// each where they are wanted.
std::string MemoryText(const MemoryPlan& plan, bool detailed) {
  std::string text = SizeText(plan.total());
  if (!plan.devices.empty()) text += " of this machine";
  for (const DeviceMemoryPlan& part : plan.devices) {
    absl::StrAppend(&text, ", ", SizeText(part.total()), " of ", DeviceName(part));
  }
  text += " planned";
  if (!detailed) return text;
  absl::StrAppend(&text, ": ", PartsText(plan));
  for (const DeviceMemoryPlan& part : plan.devices) {
    absl::StrAppend(&text, "; of ", DeviceName(part), ": ", DevicePartsText(part));
  }
  return text;
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

std::string DescribePlan(const ExperimentConfig& config, const RunPlan& plan,
                         std::string_view runner, bool detailed) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  std::string text;
  for (size_t i = 0; i < tasks.size() && tasks.size() > 1; ++i) {
    absl::StrAppendFormat(&text, "%-13s %s\n", tasks[i].name, TaskText(tasks[i], plan.envs[i]));
    if (!detailed) continue;
    const MemoryPlan::OfTask& memory = plan.memory.tasks[i];
    const std::string roles = absl::StrJoin(
        memory.roles, ", ", [](std::string* out, const std::pair<std::string, int64_t>& role) {
          absl::StrAppend(out, role.first, " ", SizeText(role.second));
        });
    absl::StrAppendFormat(&text, "%-13s engine and cache of its %s; replay up to %s\n", "", roles,
                          SizeText(memory.replay));
  }
  if (tasks.size() == 1) AppendEnvironment(plan.envs[0], &text);
  const auto longest = std::ranges::max_element(
      tasks, {}, [](const auto& task) { return task.model.context_length; });
  absl::StrAppend(&text, "model         ", FormatCount(plan.num_parameters), " parameters, ",
                  FamilyOf(config.model).describe(longest->model),
                  tasks.size() == 1 ? "\n" : " at most\n");
  if (tasks.size() == 1) AppendTask(tasks[0], plan.envs[0], runner, detailed, &text);
  absl::StrAppend(&text, "stops         ", StopText(tasks), "\n");
  absl::StrAppend(&text, "memory        ", MemoryText(plan.memory, detailed), "\n");
  return text;
}

std::string PlanTextOf(const ExperimentConfig& config, const EnvRegistry& registry) {
  const auto plan = PlanRun(config, registry);
  if (!plan.ok()) return "";
  return DescribePlan(config, *plan, ValueText(config, "inference.runner"), /*detailed=*/true);
}

}  // namespace lzero
