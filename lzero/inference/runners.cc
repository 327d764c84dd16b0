#include "lzero/inference/runners.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/eager_roots.h"
#include "lzero/inference/eager_step.h"
#include "lzero/inference/packed_roots.h"
#include "lzero/inference/packed_step.h"

namespace lzero {
namespace {

std::unique_ptr<PackedStep> MakePackedStep(const InferenceConfig& config, const WorldModel& model,
                                           int64_t max_batch) {
  return std::make_unique<PackedStep>(model, max_batch, config.dtype,
                                      static_cast<int>(config.num_threads));
}

absl::StatusOr<RunnerChoice> ChooseAndLog(const InferenceConfig& config) {
  LZ_ASSIGN_OR_RETURN(RunnerChoice choice, ChooseRunner(config));
  if (!choice.reason.empty()) LZ_LOG_INFO("runner        ", choice.reason);
  return choice;
}

}  // namespace

absl::StatusOr<RunnerChoice> ChooseRunner(const InferenceConfig& config) {
  if (config.graphs == Graphs::kRequired) {
    return absl::FailedPreconditionError(
        "inference.graphs: required, but no runner of device cpu records a graph; "
        "use graphs: preferred or off");
  }
  if (config.runner != Runner::kAuto) return RunnerChoice{config.runner, ""};
  return RunnerChoice{Runner::kPacked,
                      absl::StrCat("auto chose packed, the fastest on device cpu (here ",
                                   packed::BestKernels().name, "); its steps need no graph")};
}

absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeRecurrentStep(const InferenceConfig& config,
                                                                 const WorldModel& model,
                                                                 int64_t max_batch) {
  LZ_CHECK(max_batch > 0, "batch of ", max_batch);
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseAndLog(config));
  if (choice.runner == Runner::kPacked) return MakePackedStep(config, model, max_batch);
  return std::make_unique<EagerStep>(model, max_batch);
}

absl::StatusOr<Runners> MakeRunners(const InferenceConfig& config, const WorldModel& model,
                                    KVCacheManager* cache, RootContexts* contexts) {
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseAndLog(config));
  const int64_t num_envs = cache->config().num_envs;
  Runners runners;
  if (choice.runner == Runner::kPacked) {
    auto step = MakePackedStep(config, model, num_envs);
    runners.roots = std::make_unique<PackedRoots>(model, &step->network(), cache, contexts);
    runners.step = std::move(step);
    return runners;
  }
  LZ_ASSIGN_OR_RETURN(runners.roots, EagerRoots::Create(model, cache, contexts));
  runners.step = std::make_unique<EagerStep>(model, num_envs);
  return runners;
}

absl::StatusOr<int64_t> RunnersBytes(const InferenceConfig& config, const ModelConfig& model,
                                     const WorldModelShape& shape, int64_t num_envs) {
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseRunner(config));
  const int64_t buffers = StepBuffersBytes(model, shape, num_envs);
  if (choice.runner == Runner::kPacked) {
    return buffers + PackedRoots::Bytes(model, shape, num_envs) +
           PackedStepBytes(model, shape, num_envs, config.dtype,
                           static_cast<int>(config.num_threads));
  }
  return buffers + EagerRoots::Bytes(model, shape, num_envs);
}

}  // namespace lzero
