// The device's side of DeviceSearch (device_search.h): its memory, and kernels that are the steps
// of device_steps.h, a warp for each root, which is a block: no root waits for the path of another.
// Part of liblzero_cuda, which is loaded at run time, so what leaves this file is plain C. Compiled
// with -fmad=false: the same bits as on the host.
#include <cuda_runtime.h>

#include <new>

#include "lzero/base/lanes/block_lanes.cuh"
#include "lzero/mcts/device/device_functions.h"
#include "lzero/mcts/device/device_steps.h"

namespace lzero {

struct DeviceMemory {
  DeviceSearchArrays arrays;
  DeviceInputs host_inputs;
  DeviceResults host_results;
  std::byte* device_block = nullptr;
  std::byte* host_block = nullptr;  // pinned
  // Both blocks begin with the inputs, then the results.
  int64_t results_at = 0;
  int64_t host_bytes = 0;
};

namespace {

using RootLanes = BlockLanes<kWarp>;

__global__ void BeginKernel(const __grid_constant__ DeviceSearchArrays search,
                            const __grid_constant__ DeviceRootOutputs outputs) {
  BeginRoot(RootLanes(), search, outputs, static_cast<int>(blockIdx.x));
}

__global__ void SelectKernel(const __grid_constant__ DeviceSearchArrays search,
                             const __grid_constant__ DeviceQueries queries) {
  SelectRoot(RootLanes(), search, queries, static_cast<int>(blockIdx.x));
}

__global__ void ExpandKernel(const __grid_constant__ DeviceSearchArrays search,
                             const __grid_constant__ DeviceStepOutputs outputs) {
  ExpandRoot(RootLanes(), search, outputs, static_cast<int>(blockIdx.x));
}

__global__ void ExpandAndSelectKernel(const __grid_constant__ DeviceSearchArrays search,
                                      const __grid_constant__ DeviceStepOutputs outputs,
                                      const __grid_constant__ DeviceQueries queries) {
  ExpandRoot(RootLanes(), search, outputs, static_cast<int>(blockIdx.x));
  SelectRoot(RootLanes(), search, queries, static_cast<int>(blockIdx.x));
}

__global__ void FinishKernel(const __grid_constant__ DeviceSearchArrays search) {
  FinishRoot(RootLanes(), search, static_cast<int>(blockIdx.x));
}

const char* ErrorText(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

void Destroy(DeviceMemory* memory) {
  cudaFree(memory->device_block);
  cudaFreeHost(memory->host_block);
  delete memory;
}

// Lays out inputs and results, then, for the device alone, trees and tables.
int Allocate(const RulesView& rules, int num_considered_visits, int num_actions, int max_roots,
             DeviceMemory* memory) {
  const int64_t num_nodes = int64_t{rules.num_simulations} + 1;
  const TreeLayout layout = TreeLayout::Of(max_roots, num_nodes, num_actions);
  BlockCursor sizes(nullptr);
  DeviceInputs::Over(&sizes, max_roots, num_actions);
  memory->results_at = sizes.num_bytes();
  DeviceResults::Over(&sizes, max_roots, num_actions);
  memory->host_bytes = sizes.num_bytes();
  DeviceWork::Over(&sizes, max_roots, num_actions, layout);
  sizes.Take<float>(num_nodes + 1);
  sizes.Take<int32_t>(num_considered_visits);

  cudaError_t error = cudaMalloc(&memory->device_block, static_cast<size_t>(sizes.num_bytes()));
  if (error != cudaSuccess) return error;
  error = cudaHostAlloc(&memory->host_block, static_cast<size_t>(memory->host_bytes),
                        cudaHostAllocDefault);
  if (error != cudaSuccess) return error;
  BlockCursor host(memory->host_block);
  memory->host_inputs = DeviceInputs::Over(&host, max_roots, num_actions);
  memory->host_results = DeviceResults::Over(&host, max_roots, num_actions);

  BlockCursor device(memory->device_block);
  DeviceSearchArrays& arrays = memory->arrays;
  arrays.inputs = DeviceInputs::Over(&device, max_roots, num_actions);
  arrays.results = DeviceResults::Over(&device, max_roots, num_actions);
  const DeviceWork work = DeviceWork::Over(&device, max_roots, num_actions, layout);
  arrays.tree = TreeView::Over(work.tree_memory, layout, num_actions);
  arrays.progress = work.progress;
  arrays.scores = work.scores;
  float* exploration = device.Take<float>(num_nodes + 1);
  int32_t* considered_visits = device.Take<int32_t>(num_considered_visits);
  arrays.rules = rules;
  arrays.rules.exploration = exploration;
  arrays.rules.considered_visits = considered_visits;
  error = cudaMemcpy(exploration, rules.exploration,
                     static_cast<size_t>(num_nodes + 1) * sizeof(float), cudaMemcpyHostToDevice);
  if (error != cudaSuccess) return error;
  return cudaMemcpy(considered_visits, rules.considered_visits,
                    static_cast<size_t>(num_considered_visits) * sizeof(int32_t),
                    cudaMemcpyHostToDevice);
}

// Loads the kernels now: the first launch would load them, which a caller that captures forbids.
cudaError_t LoadKernels() {
  cudaFuncAttributes ignored;
  for (const void* kernel :
       {reinterpret_cast<const void*>(BeginKernel), reinterpret_cast<const void*>(SelectKernel),
        reinterpret_cast<const void*>(ExpandKernel),
        reinterpret_cast<const void*>(ExpandAndSelectKernel),
        reinterpret_cast<const void*>(FinishKernel)}) {
    const cudaError_t error = cudaFuncGetAttributes(&ignored, kernel);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int Create(const RulesView* rules, int num_considered_visits, int num_actions, int max_roots,
           DeviceMemory** memory) {
  *memory = nullptr;
  DeviceMemory* made = new (std::nothrow) DeviceMemory;
  if (made == nullptr) return cudaErrorMemoryAllocation;
  int error = LoadKernels();
  if (error == cudaSuccess) {
    error = Allocate(*rules, num_considered_visits, num_actions, max_roots, made);
  }
  if (error != cudaSuccess) {
    cudaGetLastError();  // told to the caller, and not to the next launch
    Destroy(made);
    return error;
  }
  *memory = made;
  return cudaSuccess;
}

const DeviceSearchArrays* Arrays(const DeviceMemory* memory) { return &memory->arrays; }
const DeviceInputs* HostInputs(const DeviceMemory* memory) { return &memory->host_inputs; }
const DeviceResults* HostResults(const DeviceMemory* memory) { return &memory->host_results; }

int Upload(const DeviceMemory* memory, DeviceStream stream) {
  return cudaMemcpyAsync(memory->device_block, memory->host_block,
                         static_cast<size_t>(memory->results_at), cudaMemcpyHostToDevice, stream);
}

int Download(const DeviceMemory* memory, DeviceStream stream) {
  return cudaMemcpyAsync(
      memory->host_block + memory->results_at, memory->device_block + memory->results_at,
      static_cast<size_t>(memory->host_bytes - memory->results_at), cudaMemcpyDeviceToHost, stream);
}

unsigned int Blocks(int num_rows) { return static_cast<unsigned int>(num_rows); }

int Begin(const DeviceMemory* memory, int num_rows, const DeviceRootOutputs* outputs,
          DeviceStream stream) {
  BeginKernel<<<Blocks(num_rows), kWarp, 0, stream>>>(memory->arrays, *outputs);
  return cudaGetLastError();
}

int Select(const DeviceMemory* memory, int num_rows, const DeviceQueries* queries,
           DeviceStream stream) {
  SelectKernel<<<Blocks(num_rows), kWarp, 0, stream>>>(memory->arrays, *queries);
  return cudaGetLastError();
}

int Expand(const DeviceMemory* memory, int num_rows, const DeviceStepOutputs* outputs,
           DeviceStream stream) {
  ExpandKernel<<<Blocks(num_rows), kWarp, 0, stream>>>(memory->arrays, *outputs);
  return cudaGetLastError();
}

int ExpandAndSelect(const DeviceMemory* memory, int num_rows, const DeviceStepOutputs* outputs,
                    const DeviceQueries* queries, DeviceStream stream) {
  ExpandAndSelectKernel<<<Blocks(num_rows), kWarp, 0, stream>>>(memory->arrays, *outputs, *queries);
  return cudaGetLastError();
}

int Finish(const DeviceMemory* memory, int num_rows, DeviceStream stream) {
  FinishKernel<<<Blocks(num_rows), kWarp, 0, stream>>>(memory->arrays);
  return cudaGetLastError();
}

}  // namespace
}  // namespace lzero

// The table of functions, or null when the caller was built with other ones
// (lzero::kDeviceFunctionsVersion).
extern "C" const lzero::DeviceFunctions* lz_cuda_search_functions(size_t version) {
  static const lzero::DeviceFunctions functions = {
      lzero::ErrorText,   lzero::Create,          lzero::Destroy,  lzero::Arrays, lzero::HostInputs,
      lzero::HostResults, lzero::Upload,          lzero::Download, lzero::Begin,  lzero::Select,
      lzero::Expand,      lzero::ExpandAndSelect, lzero::Finish};
  return version == lzero::kDeviceFunctionsVersion ? &functions : nullptr;
}
