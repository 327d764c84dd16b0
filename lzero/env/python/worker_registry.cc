#include "lzero/env/python/worker_registry.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/python/frames/atari_view.h"
#include "lzero/env/python/python.h"
#include "lzero/env/python/worker_group.h"

namespace lzero {
namespace {

using Envs = std::vector<std::unique_ptr<Env>>;
using ViewMaker = decltype(WorkerGroup::Options::make_view);
using ViewOr = ViewMaker::result_type;

// `count` environments of `task`, the first of them on the first worker.
absl::StatusOr<Envs> MakeEnvs(const EnvOptions& options, const WorkerTask& task, int count,
                              ViewMaker make_view, const std::shared_ptr<WorkerPool>& pool) {
  LZ_RETURN_IF_ERROR(CheckStepCap(options.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(options.id, options));
  const WorkerOptions& workers = options.workers;
  const WorkerGroup::Options group_options = {
      {PythonInterpreter(workers.python), task, workers.step_timeout_s},
      workers.max_restarts,
      /*first_env=*/0,
      std::move(make_view)};
  // Start the workers side by side: Python's imports take seconds.
  const int num_workers = NumWorkers(workers, count);
  const auto first_env = [&](int64_t i) { return static_cast<int>(count * i / num_workers); };
  std::vector<absl::StatusOr<std::shared_ptr<WorkerGroup>>> groups(num_workers);
  std::vector<std::thread> threads;
  for (int i = 0; i < num_workers; ++i) {
    threads.emplace_back([&, i] {
      WorkerGroup::Options its_options = group_options;
      its_options.first_env = first_env(i);
      groups[i] = WorkerGroup::Create(its_options, first_env(i + 1) - first_env(i), pool);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Their environments.
  Envs envs;
  for (int i = 0; i < num_workers; ++i) {
    LZ_RETURN_IF_ERROR(groups[i].status());
    for (int slot = 0; slot < first_env(i + 1) - first_env(i); ++slot) {
      envs.push_back(WorkerGroup::MakeEnv(*groups[i], slot, options.id, options.max_episode_steps));
    }
  }
  return envs;
}

EnvRegistry::Entry PlainEntry(const std::string& kind, const std::string& summary,
                              const std::shared_ptr<WorkerPool>& pool) {
  EnvRegistry::Entry entry = {.id = kind + ":", .summary = summary, .takes_any_setting = true};
  entry.group = [=](const EnvOptions& options, int count) -> absl::StatusOr<Envs> {
    const auto make_view = [](const WorkerSpec& spec) -> ViewOr {
      return std::make_unique<FrameView>(spec);
    };
    const WorkerOptions& workers = options.workers;
    if (kind != "gymnasium" && !workers.wrappers.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("wrappers of '", options.id, "' is ", absl::StrJoin(workers.wrappers, ", "),
                       "; allowed: none, they are for gymnasium:<id>"));
    }
    const WorkerTask task = {kind,
                             options.id.substr(kind.size() + 1),
                             options.settings,
                             /*keeps_pixels=*/false,
                             workers.observation,
                             workers.wrappers,
                             workers.python_path};
    return MakeEnvs(options, task, count, make_view, pool);
  };
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
    const auto make_view = [atari](const WorkerSpec& spec) -> ViewOr {
      return MakeAtariView(spec, atari);
    };
    if (options.workers.observation != "auto") {
      return absl::InvalidArgumentError(
          absl::StrCat("observation of '", options.id, "' is ", options.workers.observation,
                       "; allowed: auto, lzero makes the pictures of Atari games"));
    }
    const WorkerTask task = {"gymnasium",
                             options.id.substr(options.id.find(':') + 1),
                             atari.EmulatorSettings(),
                             /*keeps_pixels=*/true,
                             "auto",
                             options.workers.wrappers,
                             options.workers.python_path};
    return MakeEnvs(options, task, count, make_view, pool);
  };
  return entry;
}

}  // namespace

int NumWorkers(const WorkerOptions& options, int num_envs) {
  const int64_t wanted = options.num_workers > 0 ? options.num_workers : MachineCores();
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
