// Kernels: those of lzero run on the host, a loop over their blocks and threads, from the functions
// that the kernels call too. All others do nothing.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/null_gpu/kernels/launch.h"
// Below it: they are compiled as in a kernel.
#include "lzero/base/lanes/one_lane.h"
#include "lzero/kv_cache/search_contexts.h"
#include "lzero/mcts/device/device_arrays.h"
#include "lzero/mcts/device/device_steps.h"
#include "tests/null_gpu/device.h"
#include "tests/null_gpu/kernels/step_launches.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"
#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {
namespace {

std::map<const void*, std::string>& Names() {
  static auto& names = *new std::map<const void*, std::string>;
  return names;
}

// The roots of a launch: each has a block, which is a warp.
int Roots(const Launch& launch) {
  if (launch.threads.x != 32) Violation("a kernel of a search is launched with blocks of no warp");
  return launch.rows();
}

// The trees of a search: its progress stands for all of them.
Range Trees(const DeviceSearchArrays& search, int rows) { return Writes(search.progress, rows); }

Work Begin(const Launch& launch) {
  const auto search = launch.Argument<DeviceSearchArrays>(0);
  const auto outputs = launch.Argument<DeviceRootOutputs>(1);
  const int rows = Roots(launch);
  return {"lzero::Begin",
          [=] {
            for (int row = 0; row < rows; ++row) BeginRoot(OneLane(), search, outputs, row);
          },
          {Trees(search, rows), Reads(outputs.values, rows)}};
}

Work Select(const Launch& launch) {
  const auto search = launch.Argument<DeviceSearchArrays>(0);
  const auto queries = launch.Argument<DeviceQueries>(1);
  const int rows = Roots(launch);
  return {"lzero::Select",
          [=] {
            for (int row = 0; row < rows; ++row) SelectRoot(OneLane(), search, queries, row);
          },
          {Trees(search, rows), Writes(queries.parents, rows), Writes(queries.actions, rows),
           Writes(queries.children, rows)}};
}

Work Expand(const Launch& launch) {
  const auto search = launch.Argument<DeviceSearchArrays>(0);
  const auto outputs = launch.Argument<DeviceStepOutputs>(1);
  const int rows = Roots(launch);
  return {"lzero::Expand",
          [=] {
            for (int row = 0; row < rows; ++row) ExpandRoot(OneLane(), search, outputs, row);
          },
          {Trees(search, rows), Reads(outputs.rewards, rows), Reads(outputs.values, rows)}};
}

Work ExpandAndSelect(const Launch& launch) {
  Work expand = Expand(launch);
  Launch second = launch;
  void* arguments[] = {launch.arguments[0], launch.arguments[2]};
  second.arguments = arguments;
  const Work select = Select(second);
  expand.name = "lzero::ExpandAndSelect";
  expand.run = [first = std::move(expand.run), then = select.run] {
    first();
    then();
  };
  expand.ranges.insert(expand.ranges.end(), select.ranges.begin(), select.ranges.end());
  return expand;
}

Work Finish(const Launch& launch) {
  const auto search = launch.Argument<DeviceSearchArrays>(0);
  const int rows = Roots(launch);
  return {"lzero::Finish",
          [=] {
            for (int row = 0; row < rows; ++row) FinishRoot(OneLane(), search, row);
          },
          {Trees(search, rows), Writes(search.results.best_actions, rows)}};
}

Work PrepareRows(const Launch& launch) {
  const auto search = launch.Argument<SearchContexts>(0);
  const auto step = launch.Argument<ContextStep>(1);
  const int rows = launch.rows(), lanes = static_cast<int>(launch.threads.x);
  return {"lzero::PrepareRows",
          [=] {
            for (int row = 0; row < rows; ++row) {
              for (int lane = 0; lane < lanes; ++lane) PrepareRow(search, step, row, lane, lanes);
            }
          },
          {Reads(search.lent, rows * LentRowSize(search.window)), Reads(step.nodes, rows),
           Reads(step.actions, rows), Reads(step.children, rows),
           Writes(search.parents, int64_t{rows} * search.num_nodes),
           Writes(step.rows, int64_t{rows} * StepRowSize(search.window, 0))}};
}

// The work of kernel `name`. The longer names come first: ExpandAndSelectKernel holds SelectKernel.
Work WorkOf(const std::string& name, const Launch& launch) {
  constexpr std::pair<const char*, Work (*)(const Launch&)> kKernels[] = {
      {"ExpandAndSelectKernel", ExpandAndSelect},
      {"BeginKernel", Begin},
      {"SelectKernel", Select},
      {"ExpandKernel", Expand},
      {"FinishKernel", Finish},
      {"PrepareRowsKernel", PrepareRows}};
  if (name.find("lzero") != std::string::npos) {
    if (std::optional<Work> work = WorkOfStep(name, launch)) return *std::move(work);
    for (const auto& [kernel, make] : kKernels) {
      if (name.find(kernel) != std::string::npos) return make(launch);
    }
  }
  if (name.find("lzero") != std::string::npos || GetSettings().level != Level::kControl) {
    Violation("kernel " + name + " has nothing that runs in its place");
  }
  return {name, nullptr, {}};
}

cudaError_t Run(const void* function, dim3 blocks, dim3 threads, void** arguments,
                cudaStream_t stream) {
  const Lock lock;
  const auto found = Names().find(function);
  const std::string name = found == Names().end() ? "unknown" : found->second;
  const bool has_blocks = blocks.x != 0 && blocks.y != 0 && blocks.z != 0;
  const unsigned int num_threads = threads.x * threads.y * threads.z;
  if (!has_blocks || blocks.y > 65535 || blocks.z > 65535 || num_threads - 1 >= 1024) {
    Violation("kernel " + name + " is launched with sizes that no device takes");
    return Fail(cudaErrorInvalidConfiguration);
  }
  const Stream* on = FindStream(stream);
  if (on != nullptr && on->device != CurrentDevice()) {
    Violation("kernel " + name + " is launched on a stream of device " +
              std::to_string(on->device) + " while device " + std::to_string(CurrentDevice()) +
              " is the current one");
    return Fail(cudaErrorInvalidResourceHandle);
  }
  return Issue(stream, WorkOf(name, {blocks, threads, arguments}));
}

struct Configuration {
  dim3 blocks, threads;
  size_t shared_bytes;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace
}  // namespace lzero::null_gpu

// What nvcc writes into a program calls these.
// NOLINTBEGIN(readability-identifier-naming): names of C
extern "C" {

void** __cudaRegisterFatBinary(void* /*code*/) { return static_cast<void**>(std::malloc(8)); }
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** handle) { std::free(handle); }

void __cudaRegisterFunction(void** /*handle*/, const char* host, char* /*device*/, const char* name,
                            int /*limit*/, void* /*tid*/, void* /*bid*/, void* /*block*/,
                            void* /*grid*/, int* /*warp*/) {
  const lzero::null_gpu::Lock lock;
  lzero::null_gpu::Names()[host] = name;
}

unsigned int __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, void* stream) {
  lzero::null_gpu::configurations.push_back({blocks, threads, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, size_t* shared, void* stream) {
  const auto last = lzero::null_gpu::configurations.back();
  lzero::null_gpu::configurations.pop_back();
  *blocks = last.blocks;
  *threads = last.threads;
  *shared = last.shared_bytes;
  *static_cast<void**>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               size_t /*shared*/, cudaStream_t stream) {
  return lzero::null_gpu::Run(kernel, blocks, threads, arguments, stream);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                             size_t /*shared*/, cudaStream_t stream) {
  return lzero::null_gpu::Run(function, blocks, threads, arguments, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 blocks, dim3 threads,
                                        void** arguments, size_t /*shared*/, cudaStream_t stream) {
  return lzero::null_gpu::Run(function, blocks, threads, arguments, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return lzero::null_gpu::Run(function, config->gridDim, config->blockDim, arguments,
                              config->stream);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
