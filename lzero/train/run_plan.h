// What a run needs, worked out before anything of it is made: whether this machine's memory can
// hold it. Pure arithmetic; makes one environment for its spec.
#ifndef LZERO_TRAIN_RUN_PLAN_H_
#define LZERO_TRAIN_RUN_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/assemble.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"
#include "lzero/family/packed/model_family.h"
#include "lzero/train/device_memory.h"

namespace lzero {

// The most bytes that a run holds at once: of this machine, and of each CUDA device that it uses. A
// run that is resumed also holds the content of its replay file for a while.
struct MemoryPlan {
  int64_t learner = 0;     // weights, gradients, two moments of the optimiser; target weights
  int64_t batch = 0;       // one batch of training sequences, sampled and staged
  int64_t inference = 0;   // weights, cache and buffers of collector, evaluator and reanalyzer
  int64_t search = 0;      // trees of the same
  int64_t replay = 0;      // the full buffer
  int64_t update = 0;      // what an update computes on the way
  int64_t program = 0;     // the program with its libraries
  int64_t workers = 0;     // processes of Python environments, each as it is once it has begun
  int64_t checkpoint = 0;  // copies made for a checkpoint
  std::vector<DeviceMemoryPlan> devices = {};  // parts of learner and engines that lie there
  // What each task has of its own: engine and cache of each role, wherever they lie, and replay.
  struct OfTask {
    std::vector<std::pair<std::string, int64_t>> roles = {};
    int64_t replay = 0;
  };
  std::vector<OfTask> tasks = {};  // in their order
  int64_t total() const {          // of this machine
    return learner + batch + inference + search + replay + update + program + workers + checkpoint;
  }
};

// Counts bytes and allocates none of them; may make an environment of `registry` to measure it.
// `specs`, one for each task of the config. Asks no device. InvalidArgument for sizes that cannot
// be counted.
absl::StatusOr<MemoryPlan> PlanMemory(const ExperimentConfig& config,
                                      absl::Span<const EnvSpec> specs, const EnvRegistry& registry);
inline absl::StatusOr<MemoryPlan> PlanMemory(const ExperimentConfig& config, const EnvSpec& spec,
                                             const EnvRegistry& registry) {
  return PlanMemory(config, absl::MakeConstSpan(&spec, 1), registry);
}

// The settings that determine the size of the largest part.
std::vector<std::string> WhatToLower(const MemoryPlan& plan);

// ResourceExhausted when `plan` needs more than `machine_bytes`: names the parts and what to lower.
absl::Status CheckMemoryPlan(const MemoryPlan& plan, int64_t machine_bytes);

struct RunPlan {
  std::vector<EnvSpec> envs;   // of the tasks, in the order of TaskConfigs
  int64_t num_parameters = 0;  // of one copy of the model
  MemoryPlan memory;
};

// Refuses what is known to be wrong before anything is made: an environment that cannot be made or
// played, a stop rule that means nothing in it, a replay that cannot hold its segments, an encoder
// that does not fit, more memory than this machine has or a device that it uses has free. Devices
// that cannot be asked, as where there are none, are no reason: who runs on them says so.
absl::StatusOr<RunPlan> PlanRun(const ExperimentConfig& config, const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_RUN_PLAN_H_
