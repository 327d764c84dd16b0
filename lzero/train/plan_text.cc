#include "lzero/train/plan_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"
#include "lzero/config/schema.h"
#include "lzero/family/packed/families.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/run/progress.h"
#include "lzero/train/build.h"

namespace lzero {
namespace {

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

// Steps after which an episode has ended; 0: not known.
int64_t LongestEpisode(const EnvSpec& spec) {
  if (spec.max_episode_steps == 0 || spec.longest_episode == 0) {
    return std::max(spec.max_episode_steps, spec.longest_episode);
  }
  return std::min(spec.max_episode_steps, spec.longest_episode);
}

// What roots see and training does not show, and what would mend it; "" where there is nothing.
// Sequences from the starts of episodes, which have no context, are taken for whole ones where
// nobody knows how long episodes are.
std::string ContextText(const ExperimentConfig& config, const EnvSpec& spec) {
  const bool from_starts = config.replay.sample_from == SampleFrom::kEpisodeStarts;
  const int64_t longest = LongestEpisode(spec);
  if (from_starts && longest == 0) return "";
  const int64_t context = from_starts ? 0 : config.replay.num_context_steps;
  const int64_t shown = context + config.replay.num_unroll_steps - 1;
  int64_t seen = MaxPastSteps(config.model, spec);
  if (longest > 0) seen = std::min(seen, longest - 1);
  if (seen <= shown) return "";
  std::vector<std::string> advice = {
      absl::StrCat("raise replay.num_unroll_steps to ", seen - context + 1)};
  if (!from_starts) {
    advice.push_back(absl::StrCat("raise replay.num_context_steps to ",
                                  seen - config.replay.num_unroll_steps + 1));
  }
  ModelConfig shorter = config.model;
  do {
    shorter.context_length -= 2;  // a step is two tokens
  } while (shorter.context_length >= 2 && MaxPastSteps(shorter, spec) > shown);
  if (shorter.context_length >= 2) {
    advice.push_back(absl::StrCat("lower model.context_length to ", shorter.context_length));
  }
  return absl::StrCat("context       roots see up to ", seen,
                      " steps of their past, training shows ", shown, ": ",
                      absl::StrJoin(advice, ", or "), "\n");
}

// What a GPU costs searches that no graph records; "" where one does, or where eager was asked for.
std::string EagerDeviceText(const InferenceConfig& inference, std::string_view runner) {
  if (!inference.device.is_cuda() || inference.runner != Runner::kAuto ||
      inference.graphs == Graphs::kOff || runner != "eager") {
    return "";
  }
  return "device        searches are not recorded as graphs here; unless the model is large, "
         "inference.device=cpu train.device=cuda is faster\n";
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
  text->append(ContextText(config, spec));
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
  if (config.replay.fresh_share > 0.0) {
    absl::StrAppendFormat(
        text,
        "reanalyze     as many stored positions as keep searches of %g %% of the "
        "samples no older than %d updates: %.3g for each env step once replay is "
        "full\n",
        100.0 * config.replay.fresh_share, config.replay.fresh_updates,
        config.replay.ReanalyzeRatioAt(config.replay.capacity, config.train.updates_per_env_step));
  } else if (reanalyzed > 0.0) {
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

std::string PartsText(const MemoryPlan& plan) {
  return absl::StrCat(
      "learner ", SizeText(plan.learner), ", batch ", SizeText(plan.batch), ", an update up to ",
      SizeText(plan.update), ", inference ", SizeText(plan.inference), ", search ",
      SizeText(plan.search), ", replay up to ", SizeText(plan.replay), ", a checkpoint ",
      SizeText(plan.checkpoint), ", the program and its libraries ", SizeText(plan.program),
      plan.workers == 0 ? "" : absl::StrCat(", workers of Python ", SizeText(plan.workers)));
}

std::string DescribePlan(const ExperimentConfig& config, const RunPlan& plan,
                         std::string_view runner, bool detailed) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(config);
  std::string text;
  for (size_t i = 0; i < tasks.size() && tasks.size() > 1; ++i) {
    absl::StrAppendFormat(&text, "%-13s %s\n", tasks[i].name, TaskText(tasks[i], plan.envs[i]));
    if (!detailed) continue;
    text += ContextText(tasks[i], plan.envs[i]);
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
  text += EagerDeviceText(config.inference, runner);
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
