#include "lzero/train/device_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"

namespace lzero {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

// libtorch makes one for each thread with a handle of cuBLAS and each stream that it works on, at
// the first product: 32 MiB on sm_90, less on other devices [libtorch 2.11, CUDABlas].
constexpr int64_t kWorkspaceBytes = 32 * kMebibyte;
// The thread that records or runs an update, and libtorch's own for the backward pass.
constexpr int64_t kLearnerThreads = 2;

// What a pool of libtorch's allocator holds beyond `asked` bytes: blocks of 2 MiB for tensors up to
// 1 MiB, of 20 MiB for those up to 10, and gaps between tensors that come and go.
int64_t UnfilledBytes(int64_t asked) {
  if (asked <= kMebibyte) return 2 * kMebibyte;
  return 22 * kMebibyte + asked / 8;
}

// Recorded work has a pool of its own beside that of the stream, which keeps what warmed it up.
int64_t NumPools(bool records) { return records ? 2 : 1; }

std::vector<std::string> WhatToLower(const DeviceMemoryPlan& plan) {
  const std::pair<int64_t, std::vector<std::string>> parts[] = {
      {plan.learner, {"model.embed_dim", "model.num_layers", "model.head_dim"}},
      {plan.batch + plan.update,
       {"train.batch_size", "replay.num_unroll_steps", "model.encoder_channels",
        "model.embed_dim"}},
      {plan.inference + plan.activations,
       {"env.num_collectors", "env.num_evaluators", "search.num_simulations",
        "model.context_length", "model.embed_dim"}}};
  // The first of equal parts wins.
  const auto smaller = [](const auto& a, const auto& b) { return a.first < b.first; };
  return std::max_element(std::begin(parts), std::end(parts), smaller)->second;
}

}  // namespace

void AddLearner(const ExperimentConfig& config, const LearnerSizes& sizes, DeviceMemoryPlan* plan) {
  const int64_t weights = sizes.num_parameters * static_cast<int64_t>(sizeof(float));
  const bool records = config.inference.graphs != Graphs::kOff && sizes.num_recorded > 0;
  plan->learner += 4 * weights;  // model, target, two moments
  plan->batch += sizes.batch;
  // On the way: activations, gradients, the step of the target.
  const int64_t update = sizes.update + 2 * weights;
  plan->update += NumPools(records) * update;
  plan->workspaces += kLearnerThreads * kWorkspaceBytes;
  plan->blocks += UnfilledBytes(4 * weights + sizes.batch + update);
  if (!records) return;
  plan->blocks += UnfilledBytes(update);
  // Counted on the null GPU: 284 to 781 for models of one layer and five unrolled steps.
  const ModelConfig& model = config.model;
  const int64_t parts = model.num_layers + model.encoder_layers + model.encoder_blocks +
                        config.replay.num_unroll_steps;
  plan->graphs += sizes.num_recorded * kGraphNodeBytes * (400 + 100 * parts);
}

void AddEngine(const EngineSizes& sizes, DeviceMemoryPlan* plan) {
  const bool records = sizes.graph_nodes > 0;
  plan->inference += sizes.kept;
  plan->activations += NumPools(records) * sizes.activations;
  // What is recorded runs without a thread's handle later on.
  plan->workspaces += (records ? 1 : sizes.num_threads) * kWorkspaceBytes;
  plan->blocks += UnfilledBytes(sizes.kept + sizes.activations);
  if (records) plan->blocks += UnfilledBytes(sizes.activations);
  plan->graphs += kGraphNodeBytes * sizes.graph_nodes;
}

std::string DeviceName(const DeviceMemoryPlan& plan) {
  return absl::StrCat("cuda:", plan.device.index);
}

std::string DevicePartsText(const DeviceMemoryPlan& plan) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, int64_t bytes, const char* remark = "") {
    if (bytes > 0) parts.push_back(absl::StrCat(name, SizeText(bytes), remark));
  };
  add("learner ", plan.learner);
  add("batch ", plan.batch);
  add("an update up to ", plan.update);
  add("inference ", plan.inference);
  add("its steps up to ", plan.activations);
  add("workspaces of cuBLAS ", plan.workspaces);
  add("unfilled blocks up to ", plan.blocks);
  add("graphs ", plan.graphs, " (assumed: 2 KiB a node)");
  add("the driver ", plan.context, " (assumed)");
  if (plan.has_convolutions) parts.push_back("workspaces of cuDNN not known");
  return absl::StrJoin(parts, ", ");
}

absl::Status CheckDeviceMemory(const DeviceMemoryPlan& plan, const CudaMemory& memory) {
  const int64_t needed = plan.total() - kContextBytes;  // which is there
  if (needed <= memory.free_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the run needs ", SizeText(needed), " of ", DeviceName(plan), ", which has ",
                   SizeText(memory.free_bytes), " free of ", SizeText(memory.total_bytes), ": ",
                   DevicePartsText(plan), "; lower ", absl::StrJoin(WhatToLower(plan), " or "),
                   ", or let inference.device or train.device name another device"));
}

}  // namespace lzero
