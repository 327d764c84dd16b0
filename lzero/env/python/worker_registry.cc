#include "lzero/env/python/worker_registry.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/python/frames/atari_view.h"
#include "lzero/env/python/python.h"
#include "lzero/env/python/worker_env.h"
#include "lzero/env/python/worker_group.h"

namespace lzero {
namespace {

using Envs = std::vector<std::unique_ptr<Env>>;

// `count` environments shared among workers: how many each has.
std::vector<int> ShareOut(int count, int num_workers) {
  std::vector<int> sizes;
  for (int64_t worker = 0; worker < num_workers; ++worker) {
    sizes.push_back(
        static_cast<int>(count * (worker + 1) / num_workers - count * worker / num_workers));
  }
  return sizes;
}

// Starts the workers side by side: Python's imports take seconds.
std::vector<absl::StatusOr<std::shared_ptr<WorkerGroup>>> CreateTogether(
    const WorkerGroup::Options& options, const std::vector<int>& sizes,
    const std::shared_ptr<WorkerPool>& pool) {
  std::vector<absl::StatusOr<std::shared_ptr<WorkerGroup>>> groups(sizes.size());
  const auto create = [&](size_t i) { groups[i] = WorkerGroup::Create(options, sizes[i], pool); };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < sizes.size(); ++i) threads.emplace_back(create, i);
  create(0);
  for (std::thread& thread : threads) thread.join();
  return groups;
}

// The first environments are on the first worker.
absl::StatusOr<Envs> MakeEnvs(const EnvOptions& options, const WorkerTask& task,
                              WorkerGroup::ViewMaker make_view, int count,
                              const std::shared_ptr<WorkerPool>& pool) {
  LZ_RETURN_IF_ERROR(CheckStepCap(options.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(options.id, options));
  WorkerGroup::Options group_options;
  group_options.command.python = PythonInterpreter(options.workers.python);
  group_options.command.task = task;
  group_options.command.step_timeout_s = options.workers.step_timeout_s;
  group_options.max_restarts = options.workers.max_restarts;
  group_options.make_view = std::move(make_view);
  const std::vector<int> sizes = ShareOut(count, NumWorkers(options.workers, count));
  Envs envs;
  for (auto& group : CreateTogether(group_options, sizes, pool)) {
    LZ_RETURN_IF_ERROR(group.status());
    for (int slot = 0; slot < (*group)->num_envs(); ++slot) {
      envs.push_back(
          std::make_unique<WorkerEnv>(*group, slot, options.id, options.max_episode_steps));
    }
  }
  return envs;
}

// A factory of single environments from one of groups.
EnvRegistry::Factory One(const EnvRegistry::GroupFactory& group) {
  return [group](const EnvOptions& options) -> absl::StatusOr<std::unique_ptr<Env>> {
    LZ_ASSIGN_OR_RETURN(Envs envs, group(options, 1));
    return std::move(envs[0]);
  };
}

EnvRegistry::Entry PlainEntry(const std::string& kind, const std::string& summary,
                              const std::shared_ptr<WorkerPool>& pool) {
  EnvRegistry::Entry entry;
  entry.id = kind + ":";
  entry.summary = summary;
  entry.takes_any_setting = true;
  entry.group = [=](const EnvOptions& options, int count) {
    const auto make_view =
        [](const WorkerSpec& spec) -> absl::StatusOr<std::unique_ptr<FrameView>> {
      return std::make_unique<FrameView>(spec);
    };
    const WorkerTask task = {kind, options.id.substr(kind.size() + 1), options.settings};
    return MakeEnvs(options, task, make_view, count, pool);
  };
  entry.factory = One(entry.group);
  return entry;
}

EnvRegistry::Entry AtariEntry(const std::shared_ptr<WorkerPool>& pool) {
  EnvRegistry::Entry entry;
  entry.id = "gymnasium:ALE/";
  entry.summary = "gymnasium:ALE/<game>-v5, Atari games: skipped frames, small pictures, presets";
  entry.settings = AtariOptions::Settings();
  entry.group = [pool](const EnvOptions& options, int count) -> absl::StatusOr<Envs> {
    LZ_ASSIGN_OR_RETURN(
        const EnvSettings settings,
        EnvSettings::Create(options.id, AtariOptions::Settings(), options.settings));
    if (const double sticky = settings.Float("sticky"); sticky < 0 && sticky != -1) {
      return absl::InvalidArgumentError(absl::StrCat("sticky of '", options.id, "': got ", sticky,
                                                     "; allowed: -1, or a number from 0 to 1"));
    }
    const AtariOptions atari = AtariOptions::Of(settings, options.is_training);
    const auto make_view =
        [atari](const WorkerSpec& spec) -> absl::StatusOr<std::unique_ptr<FrameView>> {
      LZ_RETURN_IF_ERROR(AtariView::CheckSpec(spec, atari));
      return std::make_unique<AtariView>(spec, atari);
    };
    const WorkerTask task = {"gymnasium", options.id.substr(options.id.find(':') + 1),
                             atari.EmulatorSettings(), /*keeps_pixels=*/true};
    return MakeEnvs(options, task, make_view, count, pool);
  };
  entry.factory = One(entry.group);
  return entry;
}

}  // namespace

int NumWorkers(const WorkerOptions& options, int num_envs) {
  const int64_t wanted =
      options.num_workers > 0 ? options.num_workers : std::thread::hardware_concurrency();
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, num_envs));
}

void RegisterWorkerEnvs(EnvRegistry& registry) {
  const auto pool = std::make_shared<WorkerPool>();
  registry.Register(
      PlainEntry("gymnasium", "gymnasium:<id>, every environment registered with Gymnasium", pool));
  registry.Register(AtariEntry(pool));
  EnvRegistry::Entry control =
      PlainEntry("dm_control", "dm_control:<domain>/<task> of the DeepMind Control Suite", pool);
  control.settings = {EnvSetting::Int("action_repeat", 1, 1, 1000,
                                      "steps of the suite that an action is held for")};
  registry.Register(std::move(control));
}

}  // namespace lzero
