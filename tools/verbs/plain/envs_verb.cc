#include "tools/verbs/plain/envs_verb.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/printable.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/conformance_verdict.h"
#include "lzero/env/check/native_checks.h"
#include "lzero/env/check/perft.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/check/trace.h"
#include "lzero/env/check/trace_replay.h"
#include "lzero/pipe/env_server.h"
#include "lzero/pipe/hello.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/serve_stdio.h"

namespace lzero {
namespace {

int Refuse(const Console& console, const absl::Status& status, int exit_code = kExitUsage) {
  console.err << "error: " << PrintableMessage(status.message()) << "\n";
  return exit_code;
}

absl::Status CheckNumSteps(int64_t num_steps) {
  if (num_steps >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--steps is ", num_steps, "; allowed: 1 or more"));
}

absl::StatusOr<std::unique_ptr<Env>> MakeEnv(const EnvRegistry& registry,
                                             const EnvsTarget& target) {
  LZ_ASSIGN_OR_RETURN(const EnvOptions options, OptionsOf(target));
  return registry.Make(target.id, options);
}

std::string BoundText(const std::vector<float>& low, const std::vector<float>& high) {
  constexpr size_t kShown = 12;
  if (low.size() > kShown) {
    return absl::StrCat(*std::min_element(low.begin(), low.end()), " .. ",
                        *std::max_element(high.begin(), high.end()), " (", low.size(),
                        " elements, each with its own)");
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < low.size(); ++i) parts.push_back(absl::StrCat(low[i], " .. ", high[i]));
  return absl::StrJoin(parts, ", ");
}

absl::string_view YesNo(bool value) { return value ? "yes" : "no"; }

std::string SettingsText(const EnvRegistry::Entry& entry) {
  std::string text;
  for (const EnvSetting& setting : entry.settings) {
    absl::StrAppend(&text, "setting        ", setting.name, "=", setting.default_text, ": ",
                    setting.help, "; ", setting.AllowedText(), "\n");
  }
  if (entry.takes_any_setting) {
    absl::StrAppend(&text, "settings       ", entry.settings.empty() ? "" : "others ",
                    "are handed to the environment when it is made\n");
  }
  return text;
}

std::string SpecText(const EnvSpec& spec, bool has_grader) {
  const bool discrete = spec.action.kind == ActionKind::kDiscrete;
  const std::string actions =
      discrete ? absl::StrCat("discrete, 0 .. ", spec.action.num_actions - 1,
                              spec.action.meaning.empty() ? "" : "\n  ", spec.action.meaning)
               : absl::StrCat("box, ", BoundText(spec.action.low, spec.action.high));
  const std::string cap = spec.max_episode_steps > 0
                              ? absl::StrCat(spec.max_episode_steps, " steps")
                          : spec.truncates_itself ? "none is registered; it may have one of its own"
                                                  : "none";
  std::string text =
      absl::StrCat("observation    float32 {", absl::StrJoin(spec.observation.shape, ", "),
                   "}, bounds ", BoundText(spec.observation.low, spec.observation.high),
                   spec.observation.type == ObservationType::kUint8 ? ", pictures of bytes" : "",
                   spec.observation.frame_stack > 1
                       ? absl::StrCat(", ", spec.observation.frame_stack, " frames stacked")
                       : "",
                   "\n");
  for (const std::string& part : spec.observation.parts) absl::StrAppend(&text, "  ", part, "\n");
  absl::StrAppend(&text, "actions        ", actions, "\n");
  absl::StrAppend(&text, "players        ", spec.num_players, "\nstep cap       ", cap, "\n");
  if (spec.longest_episode > 0)
    absl::StrAppend(&text, "longest        ", spec.longest_episode, " steps\n");
  absl::StrAppend(&text, "deterministic  ",
                  spec.truncates_itself ? "not known" : YesNo(spec.deterministic), "\n");
  if (spec.num_chance_outcomes > 0)
    absl::StrAppend(&text, "chance         ", spec.num_chance_outcomes, " outcomes\n");
  absl::StrAppend(&text, "saves          ", YesNo(spec.can_save), "\n");
  absl::StrAppend(&text, "physics state  ", YesNo(spec.can_set_state), "\n");
  absl::StrAppend(&text, "symmetries     ",
                  spec.symmetries.empty() ? "none" : absl::StrCat(spec.symmetries.size()), "\n");
  absl::StrAppend(&text, "exact grader   ", YesNo(has_grader), "\n");
  return text;
}

// All settings of one environment alone, board size among them.
EnvSettingTexts SettingsOf(const EnvOptions& options) {
  EnvSettingTexts settings = options.settings;
  if (options.board_size != 0) settings["board_size"] = absl::StrCat(options.board_size);
  return settings;
}

constexpr int64_t kRandomSteps = 1000;  // where nothing says how many

// What is played: how long, from which seed, with which actions.
absl::StatusOr<RolloutOptions> PlanRollout(const Env& env, const EnvsRolloutOptions& options,
                                           const Console& console) {
  RolloutOptions plan;
  // Options of the command line.
  plan.seed = options.seed;
  plan.num_steps =
      options.num_steps.value_or(options.picture.format.empty() ? kRandomSteps : kRenderedSteps);
  plan.random_opening_fraction = options.target.options.random_opening_fraction;
  plan.random_opening_plies = options.target.options.random_opening_plies;
  LZ_ASSIGN_OR_RETURN(const EnvOptions env_options, OptionsOf(options.target));
  plan.settings = SettingsOf(env_options);
  LZ_RETURN_IF_ERROR(CheckNumSteps(plan.num_steps));
  // Actions from a file decide how many steps are played.
  if (options.actions != "random") {
    LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.actions));
    absl::StatusOr<std::vector<Action>> actions = ParseActions(text, env.spec().action.kind);
    LZ_RETURN_IF_ERROR(Annotate(actions.status(), options.actions));
    if (actions->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(options.actions, ": holds no action"));
    }
    const auto num_actions = static_cast<int64_t>(actions->size());
    plan.num_steps = options.num_steps.value_or(num_actions);
    if (plan.num_steps < num_actions) {
      console.err << "note: --steps " << plan.num_steps << " plays the first of " << num_actions
                  << " actions in " << options.actions << "\n";
    }
    plan.actions = *std::move(actions);
  }
  return plan;
}

std::string RolloutSummary(const Trace& trace) {
  int64_t num_steps = 0;
  int64_t num_ended = 0;
  for (const TraceEpisode& episode : trace.episodes) {
    num_steps += static_cast<int64_t>(episode.steps.size());
    if (episode.steps.empty()) continue;
    const TraceStep& last = episode.steps.back();
    if (last.terminated || last.truncated) ++num_ended;
  }
  return absl::StrCat(trace.meta.env, ": ", num_steps, " steps, ", num_ended, " episodes ended");
}

absl::StatusOr<Trace> ReadTrace(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<Trace> trace = ParseTrace(text);
  LZ_RETURN_IF_ERROR(Annotate(trace.status(), path));
  if (trace->episodes.empty() && trace->games.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds no episode and no game"));
  }
  return trace;
}

// What a difference means when the trace names another environment; "" when it names this one.
std::string OtherEnvText(const TraceMeta& meta, const std::string& id) {
  if (meta.env == id) return "";
  return absl::StrCat("the trace is of environment '", meta.env, "', this is '", id, "'");
}

absl::StatusOr<ReplayReport> RunReplay(const EnvRegistry& registry,
                                       const EnvsReplayOptions& options, const Trace& trace) {
  // Names that this build does not know may be other people's names of the same environment.
  if (trace.meta.env != options.target.id && registry.Find(trace.meta.env).ok()) {
    return absl::InvalidArgumentError(OtherEnvText(trace.meta, options.target.id));
  }
  // Options given beside the trace must agree with it.
  EnvsTarget target = options.target;
  const double asked_fraction = target.options.random_opening_fraction;
  if (asked_fraction != 0.0 && asked_fraction != trace.meta.random_opening_fraction) {
    return absl::InvalidArgumentError(
        absl::StrCat("--random-openings is ", asked_fraction, ", the trace was recorded with ",
                     trace.meta.random_opening_fraction, "; leave it out: the trace decides"));
  }
  LZ_ASSIGN_OR_RETURN(target.options, OptionsOf(target));
  target.settings.clear();
  const EnvSettingTexts asked = SettingsOf(target.options);
  if (!asked.empty() && asked != trace.meta.settings) {
    return absl::InvalidArgumentError(
        "the trace was recorded with other settings; leave yours out: the trace decides");
  }
  target.options.board_size = 0;
  target.options.settings = trace.meta.settings;
  const int64_t asked_cap = target.options.max_episode_steps;
  if (asked_cap != 0 && asked_cap != trace.meta.max_episode_steps) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-episode-steps is ", asked_cap, ", the trace was recorded with ",
                     trace.meta.max_episode_steps, "; leave it out: the trace decides"));
  }
  if (trace.meta.max_episode_steps > 0) {
    target.options.max_episode_steps = trace.meta.max_episode_steps;
  }
  target.options.random_opening_fraction = trace.meta.random_opening_fraction;
  target.options.random_opening_plies = trace.meta.random_opening_plies;
  // Make that environment and play the trace.
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeEnv(registry, target));
  return ReplayTrace(*env, trace, options.whole);
}

}  // namespace

absl::StatusOr<EnvOptions> OptionsOf(const EnvsTarget& target) {
  EnvOptions options = target.options;
  for (const std::string& assignment : target.settings) {
    const size_t equals = assignment.find('=');
    if (equals == 0 || equals == assignment.npos || equals + 1 == assignment.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "not a setting; got ", QuotedForMessage(assignment), "; allowed: name=value"));
    }
    if (!options.settings.emplace(assignment.substr(0, equals), assignment.substr(equals + 1))
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat("setting '", assignment.substr(0, equals), "' is given twice"));
    }
  }
  return options;
}

int EnvsList(const EnvRegistry& registry, const Console& console) {
  size_t width = 0;
  for (const EnvRegistry::Entry* entry : registry.entries()) {
    width = std::max(width, entry->id.size());
  }
  for (const EnvRegistry::Entry* entry : registry.entries()) {
    console.out << entry->id << std::string(width + 2 - entry->id.size(), ' ') << entry->summary
                << "\n";
  }
  return kExitOk;
}

int EnvsInfo(const EnvRegistry& registry, const EnvsTarget& target, const Console& console) {
  const auto env = MakeEnv(registry, target);
  if (!env.ok()) return Refuse(console, env.status());
  const auto entry = registry.Find(target.id);
  console.out << target.id << ((*entry)->is_family() ? " of " : ": ") << (*entry)->summary << "\n"
              << SpecText((*env)->spec(), (*entry)->grader != nullptr) << SettingsText(**entry);
  (*env)->Reset(0);
  const auto picture = (*env)->RenderText();
  if (picture.ok()) console.out << "start with seed 0:\n" << *picture;
  return kExitOk;
}

int EnvsCheck(const EnvRegistry& registry, const EnvsCheckOptions& options,
              const Console& console) {
  const absl::Status usage = CheckNumSteps(options.num_steps);
  if (!usage.ok()) return Refuse(console, usage);
  const auto make = [&] { return MakeEnv(registry, options.target); };
  const auto first = make();
  if (!first.ok()) return Refuse(console, first.status());
  // Flushed one by one: an environment that aborts the program is known by the check it got to.
  const auto print = [&](const ConformanceCheck& check) {
    const char* const result = check.skipped ? "skip  " : check.passed ? "pass  " : "FAIL  ";
    console.out << result << check.name << (check.detail.empty() ? "" : "  ") << check.detail
                << std::endl;
    if (check.passed) return;
    console.out << "      hinders training: " << YesNo(check.hinders) << ", because "
                << check.because << std::endl;
  };
  auto checks = RunConformance(make, {options.seed, options.num_steps, print});
  if (IsNative(**registry.Find(options.target.id))) {
    const auto native =
        RunNativeChecks(registry, options.target.id, *OptionsOf(options.target), print);
    checks.insert(checks.end(), native.begin(), native.end());
  }
  if (!(*first)->spec().can_save) {
    console.out << "note  cannot save: a resumed run starts the episodes that were being played "
                   "anew, so it is not exact\n";
  }
  console.out << VerdictText(options.target.id, checks) << "\n";
  return std::ranges::all_of(checks, &ConformanceCheck::passed) ? kExitOk : kExitFailure;
}

int EnvsRollout(const EnvRegistry& registry, const EnvsRolloutOptions& options,
                const Console& console) {
  const absl::Status usage = CheckPictureOptions(options.picture, kRolloutFormats);
  if (!usage.ok()) return Refuse(console, usage);
  const auto env = MakeEnv(registry, options.target);
  if (!env.ok()) return Refuse(console, env.status());
  const absl::StatusOr<RolloutOptions> plan = PlanRollout(**env, options, console);
  if (!plan.ok()) return Refuse(console, plan.status());
  if (!options.picture.format.empty()) {
    return RenderRollout(**env, *plan, options.picture, options.out_path, console);
  }
  const absl::StatusOr<Trace> trace = RecordRollout(**env, *plan);
  if (!trace.ok()) return Refuse(console, trace.status());
  if (options.out_path.empty()) {
    console.out << TraceText(*trace);
    return kExitOk;
  }
  const absl::Status written = WriteOutput(options.out_path, TraceText(*trace));
  if (!written.ok()) return Refuse(console, written, ExitCodeOf(written));
  console.out << RolloutSummary(*trace) << ", written to " << options.out_path << "\n";
  return kExitOk;
}

int EnvsReplay(const EnvRegistry& registry, const EnvsReplayOptions& options,
               const Console& console) {
  // Read and replay.
  const absl::Status known = registry.Find(options.target.id).status();
  if (!known.ok()) return Refuse(console, known);
  const absl::StatusOr<Trace> trace = ReadTrace(options.trace_path);
  if (!trace.ok()) return Refuse(console, trace.status());
  const absl::StatusOr<ReplayReport> report = RunReplay(registry, options, *trace);
  if (!report.ok()) return Refuse(console, Annotate(report.status(), options.trace_path));
  // Report.
  const std::string other = OtherEnvText(trace->meta, options.target.id);
  if (!other.empty() && !report->differences.empty()) {
    console.out << options.trace_path << ": " << other << "\n";
  }
  for (const std::string& difference : report->differences) {
    console.out << options.trace_path << ": " << difference << "\n";
  }
  console.out << options.target.id << ": " << report->num_episodes << " episodes ("
              << report->num_whole << " played whole, " << report->num_episodes - report->num_whole
              << " step by step), " << report->num_games << " games, " << report->num_steps
              << " steps: ";
  if (report->differences.empty()) {
    console.out << "all equal\n";
    return kExitOk;
  }
  console.out << report->differences.size() << " of " << report->num_episodes + report->num_games
              << " differ\n";
  return kExitFailure;
}

int EnvsPerft(const EnvRegistry& registry, const EnvsPerftOptions& options,
              const Console& console) {
  const auto env = MakeEnv(registry, options.target);
  if (!env.ok()) return Refuse(console, env.status());
  const absl::StatusOr<std::vector<int64_t>> counts = Perft(**env, options.depth, options.seed);
  if (!counts.ok()) return Refuse(console, counts.status());
  for (size_t i = 0; i < counts->size(); ++i)
    console.out << "depth " << i + 1 << ": " << (*counts)[i] << "\n";
  return kExitOk;
}

int EnvsBench(const EnvRegistry& registry, const EnvsBenchOptions& options,
              const Console& console) {
  if (!(options.seconds > 0.0 && options.seconds <= 3600.0)) {
    return Refuse(console,
                  absl::InvalidArgumentError(absl::StrCat("--seconds is ", options.seconds,
                                                          "; allowed: above 0, up to 3600")));
  }
  // Make the environments and count their worker processes.
  absl::StatusOr<EnvOptions> env_options = OptionsOf(options.target);
  if (!env_options.ok()) return Refuse(console, env_options.status());
  env_options->workers.num_workers = options.num_workers;
  auto envs = registry.MakeGroup(options.target.id, *env_options, options.num_envs);
  if (!envs.ok()) return Refuse(console, envs.status());
  std::set<const EnvBatch*> batches;
  for (const auto& env : *envs) batches.insert(env->batch());
  batches.erase(nullptr);
  const size_t num_workers = batches.size();
  // Measure and report.
  const absl::StatusOr<EnvSpeed> speed = MeasureEnvSpeed(*std::move(envs), options.seconds);
  if (!speed.ok()) return Refuse(console, speed.status(), kExitFailure);
  const auto num_steps = static_cast<double>(std::max<int64_t>(1, speed->num_steps));
  console.out << absl::StrFormat(
      "%s: %.0f steps/s, %.0f ns a step, %.1f steps an episode (random actions, %s, 1 thread%s, "
      "%.2f s)\n",
      options.target.id, num_steps / speed->seconds, 1e9 * speed->seconds / num_steps,
      num_steps / static_cast<double>(speed->num_episodes),
      options.num_envs == 1 ? "1 environment" : absl::StrCat(options.num_envs, " environments"),
      num_workers == 0
          ? ""
          : absl::StrCat(" and ", num_workers, num_workers == 1 ? " process" : " processes"),
      speed->seconds);
  return kExitOk;
}

int EnvsServe(const EnvRegistry& registry, const EnvsServeOptions& options,
              const Console& console) {
  if (!options.is_stdio) return RefuseWithoutStdio("envs serve");
  const auto env = MakeEnv(registry, options.target);
  if (!env.ok()) return Refuse(console, env.status());
  EnvServer server(env->get());
  return ServeStdio(EnvHello((*env)->spec(), LZERO_VERSION),
                    [&](const Frame& request) { return server.Answer(request); });
}

}  // namespace lzero
