// What a run will do and need, worked out before it begins: the plan for people, and whether this
// machine's memory can hold it. Builds nothing that it does not throw away.
#ifndef LZERO_TRAIN_RUN_PLAN_H_
#define LZERO_TRAIN_RUN_PLAN_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_spec.h"

namespace lzero {

// Bytes that a run holds at once, at the least: what an update computes on the way, and copies made
// for a checkpoint, come on top.
struct MemoryPlan {
  int64_t learner = 0;    // weights, gradients, two moments of the optimiser; target weights
  int64_t batch = 0;      // one batch of training sequences
  int64_t inference = 0;  // weights, cache and buffers of collector and evaluator
  int64_t replay = 0;     // the full buffer
  int64_t total() const { return learner + batch + inference + replay; }
};

// Nothing is allocated. InvalidArgument for sizes that cannot be counted.
absl::StatusOr<MemoryPlan> PlanMemory(const ExperimentConfig& config, const EnvSpec& spec);

// ResourceExhausted when `plan` needs more than `machine_bytes`: names the parts and what to lower.
absl::Status CheckMemoryPlan(const MemoryPlan& plan, int64_t machine_bytes);

// Both, for this machine.
absl::Status CheckMemory(const ExperimentConfig& config, const EnvSpec& spec);

// The plan for people: model size, search, ratio, memory. One fact a line. Refuses what a run would
// refuse, before it leaves anything behind.
absl::StatusOr<std::string> DescribePlan(const ExperimentConfig& config,
                                         const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_RUN_PLAN_H_
