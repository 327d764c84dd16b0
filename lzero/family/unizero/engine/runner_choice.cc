#include "lzero/family/unizero/engine/runner_choice.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/kernels/instruction_set.h"

namespace lzero {

absl::StatusOr<RunnerChoice> ChooseRunner(const InferenceConfig& config,
                                          const SearchConfig* search) {
  LZ_RETURN_IF_ERROR(FirstError(GraphErrors(config)));
  const bool on_cpu = config.device.is_cpu();
  // What auto stands for.
  RunnerChoice choice{config.runner, ""};
  if (config.runner == Runner::kAuto && on_cpu) {
    choice = {Runner::kPacked,
              absl::StrCat("auto chose packed, the fastest on device cpu (this one has ",
                           NameOf(CurrentInstructionSet()), ")")};
  } else if (config.runner == Runner::kAuto && config.graphs == Graphs::kOff) {
    choice = {Runner::kEager,
              "auto chose eager: on device cuda only graphs are faster, and "
              "inference.graphs is off"};
  } else if (config.runner == Runner::kAuto && search == nullptr) {
    choice = {Runner::kCudaGraph, "auto chose cuda_graph: one launch a step on device cuda"};
  } else if (config.runner == Runner::kAuto && search->num_sampled_actions.has_value()) {
    choice = {Runner::kCudaGraph,
              "auto chose cuda_graph, one launch a step on device cuda: the host draws the sampled "
              "actions of each node, so a whole search is no graph"};
  } else if (config.runner == Runner::kAuto && search->cheap_fraction > 0.0) {
    choice = {Runner::kCudaGraph,
              "auto chose cuda_graph, one launch a step on device cuda: searches have two sizes "
              "(search.cheap_fraction), and a recorded one has one"};
  } else if (config.runner == Runner::kAuto) {
    choice = {Runner::kCudaSearchGraph,
              "auto chose cuda_search_graph: one launch a search on device cuda"};
  }
  return choice;
}

void LogChoice(const RunnerChoice& choice, const std::string& owner) {
  if (choice.reason.empty()) return;
  LZ_LOG_DETAIL("runner        ", owner.empty() ? "" : absl::StrCat(owner, ": "), choice.reason);
}

}  // namespace lzero
