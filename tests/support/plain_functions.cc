#include "tests/support/plain_functions.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lzero/base/lanes/one_lane.h"
#include "lzero/mcts/device/device_steps.h"

namespace lzero {

struct DeviceMemory {
  std::vector<double> device_block, host_block;
  std::vector<float> exploration;
  std::vector<int32_t> considered_visits;
  DeviceSearchArrays arrays;
  DeviceInputs host_inputs;
  DeviceResults host_results;
  int64_t results_at = 0;  // in both blocks, bytes
};

namespace {

constexpr int kNoMemory = 2;
int num_memories = 0;

const char* ErrorText(int error) { return error == kNoMemory ? "out of memory" : "unknown"; }

// `block` with room for so many bytes from the place that is returned, which is aligned. What is
// read before it is written is no number.
std::byte* Reserve(int64_t num_bytes, std::vector<double>* block) {
  block->resize(static_cast<size_t>(num_bytes + TreeLayout::kAlignment) / sizeof(double) + 1);
  std::byte* bytes = reinterpret_cast<std::byte*>(block->data());
  std::fill_n(bytes, block->size() * sizeof(double), std::byte{0xff});
  const uintptr_t at = reinterpret_cast<uintptr_t>(bytes);
  return bytes + TreeLayout::RoundUp(static_cast<int64_t>(at), TreeLayout::kAlignment) -
         static_cast<int64_t>(at);
}

int Create(const RulesView* rules, int num_considered_visits, int num_actions, int max_roots,
           DeviceMemory** memory) {
  const int num_nodes = rules->num_simulations + 1;
  const TreeLayout layout = TreeLayout::Of(max_roots, num_nodes, num_actions);
  if (layout.num_bytes > int64_t{1} << 32) return kNoMemory;
  *memory = new DeviceMemory;
  ++num_memories;
  DeviceMemory& made = **memory;
  made.exploration.assign(rules->exploration, rules->exploration + num_nodes + 1);
  made.considered_visits.assign(rules->considered_visits,
                                rules->considered_visits + num_considered_visits);
  BlockCursor sizes(nullptr);
  DeviceInputs::Over(&sizes, max_roots, num_actions);
  made.results_at = sizes.num_bytes();
  DeviceResults::Over(&sizes, max_roots, num_actions);
  BlockCursor host(Reserve(sizes.num_bytes(), &made.host_block));
  made.host_inputs = DeviceInputs::Over(&host, max_roots, num_actions);
  made.host_results = DeviceResults::Over(&host, max_roots, num_actions);
  DeviceWork::Over(&sizes, max_roots, num_actions, layout);
  BlockCursor device(Reserve(sizes.num_bytes(), &made.device_block));
  made.arrays.inputs = DeviceInputs::Over(&device, max_roots, num_actions);
  made.arrays.results = DeviceResults::Over(&device, max_roots, num_actions);
  const DeviceWork work = DeviceWork::Over(&device, max_roots, num_actions, layout);
  made.arrays.tree = TreeView::Over(work.tree_memory, layout, num_actions);
  made.arrays.progress = work.progress;
  made.arrays.scores = work.scores;
  made.arrays.rules = *rules;
  made.arrays.rules.exploration = made.exploration.data();
  made.arrays.rules.considered_visits = made.considered_visits.data();
  return 0;
}

void Destroy(DeviceMemory* memory) {
  delete memory;
  --num_memories;
}

const DeviceSearchArrays* Arrays(const DeviceMemory* memory) { return &memory->arrays; }
const DeviceInputs* HostInputs(const DeviceMemory* memory) { return &memory->host_inputs; }
const DeviceResults* HostResults(const DeviceMemory* memory) { return &memory->host_results; }

int Upload(const DeviceMemory* memory, DeviceStream) {
  const auto* from = reinterpret_cast<const std::byte*>(memory->host_inputs.switches);
  std::copy_n(from, memory->results_at,
              reinterpret_cast<std::byte*>(memory->arrays.inputs.switches));
  return 0;
}

int Download(const DeviceMemory* memory, DeviceStream) {
  const auto* from = reinterpret_cast<const std::byte*>(memory->arrays.results.visit_counts);
  const auto* end = reinterpret_cast<const std::byte*>(memory->arrays.tree.first_nodes);
  std::copy(from, end, reinterpret_cast<std::byte*>(memory->host_results.visit_counts));
  return 0;
}

int Begin(const DeviceMemory* memory, int num_rows, const DeviceRootOutputs* outputs,
          DeviceStream) {
  for (int b = 0; b < num_rows; ++b) BeginRoot(OneLane(), memory->arrays, *outputs, b);
  return 0;
}

int Select(const DeviceMemory* memory, int num_rows, const DeviceQueries* queries, DeviceStream) {
  for (int b = 0; b < num_rows; ++b) SelectRoot(OneLane(), memory->arrays, *queries, b);
  return 0;
}

int Expand(const DeviceMemory* memory, int num_rows, const DeviceStepOutputs* outputs,
           DeviceStream) {
  for (int b = 0; b < num_rows; ++b) ExpandRoot(OneLane(), memory->arrays, *outputs, b);
  return 0;
}

int ExpandAndSelect(const DeviceMemory* memory, int num_rows, const DeviceStepOutputs* outputs,
                    const DeviceQueries* queries, DeviceStream) {
  for (int b = 0; b < num_rows; ++b) {
    ExpandRoot(OneLane(), memory->arrays, *outputs, b);
    SelectRoot(OneLane(), memory->arrays, *queries, b);
  }
  return 0;
}

int Finish(const DeviceMemory* memory, int num_rows, DeviceStream) {
  for (int b = 0; b < num_rows; ++b) FinishRoot(OneLane(), memory->arrays, b);
  return 0;
}

}  // namespace

const DeviceFunctions& PlainFunctions() {
  static const DeviceFunctions functions = {
      ErrorText, Create, Destroy, Arrays, HostInputs,      HostResults, Upload,
      Download,  Begin,  Select,  Expand, ExpandAndSelect, Finish};
  return functions;
}

int NumPlainMemories() { return num_memories; }

}  // namespace lzero
