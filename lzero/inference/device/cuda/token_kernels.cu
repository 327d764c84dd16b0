// The device's side of step_functions.h: a block for each row of a task, a warp for each row and
// head of attention. Part of liblzero_cuda, so what leaves this file is plain C.
#include <cuda_runtime.h>

#include <cstdio>

#include "lzero/base/lanes/block_lanes.cuh"
#include "lzero/inference/device/cuda/products.h"
#include "lzero/inference/device/token_kernels.h"

namespace lzero {
namespace {

using RowLanes = BlockLanes<kAnyThreads>;

// A lane waits for memory at each of its numbers: wide rows have more lanes.
int RowThreads(int size) { return size <= 256 ? 128 : 512; }

template <int NumPairs>
struct AttentionLanes : BlockLanes<kWarp> {
  static constexpr int kMostPairs = NumPairs;
};

template <typename Operand>
__global__ void PutActionKernel(const __grid_constant__ PutActionTask task) {
  PutAction<Operand>(RowLanes(), task, static_cast<int>(blockIdx.x));
}

template <typename Operand>
__global__ void AddAndNormalizeKernel(const __grid_constant__ AddAndNormalizeTask task) {
  AddAndNormalize<Operand>(RowLanes(), task, static_cast<int>(blockIdx.x));
}

template <typename Operand>
__global__ void HeadsGeluKernel(const __grid_constant__ HeadsGeluTask task) {
  HeadsGelu<Operand>(RowLanes(), task, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
}

template <typename Operand>
__global__ void ReadActionKernel(const __grid_constant__ ReadActionTask task) {
  ReadAction<Operand>(RowLanes(), task, static_cast<int>(blockIdx.x));
}

__global__ void ReadLatentKernel(const __grid_constant__ ReadLatentTask task) {
  ReadLatent(RowLanes(), task, static_cast<int>(blockIdx.x));
}

// NumPairs: of channels that a lane holds.
template <typename Operand, int NumPairs>
__global__ void AttendKernel(const __grid_constant__ AttendTask task) {
  Attend<Operand>(AttentionLanes<NumPairs>(), task, static_cast<int>(blockIdx.x),
                  static_cast<int>(blockIdx.y));
}

// Launches `bf16` where operands are that, else `fp32`.
template <typename Task>
int Launch(ProductType type, void (*fp32)(Task), void (*bf16)(Task), const Task& task, dim3 blocks,
           int threads, DeviceStream stream) {
  const auto kernel = type == ProductType::kBf16 ? bf16 : fp32;
  kernel<<<blocks, static_cast<unsigned int>(threads), 0, stream>>>(task);
  return cudaGetLastError();
}

dim3 Blocks(int num_rows, int of_each = 1) {
  return {static_cast<unsigned int>(num_rows), static_cast<unsigned int>(of_each)};
}

const char* ErrorText(int error) {
  if (error == kNoProductLibrary) return "cuBLASLt was not found";
  if (error > kProductError) {
    static thread_local char text[64];
    std::snprintf(text, sizeof(text), "cuBLASLt refused a product with status %d",
                  error - kProductError);
    return text;
  }
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

int LaunchPutAction(ProductType type, const PutActionTask* task, int num_rows,
                    DeviceStream stream) {
  return Launch(type, PutActionKernel<float>, PutActionKernel<Bfloat16>, *task, Blocks(num_rows),
                RowThreads(task->size), stream);
}

int LaunchAttend(ProductType type, const AttendTask* task, int num_rows, DeviceStream stream) {
  const dim3 blocks = Blocks(num_rows, task->num_heads);
  if (task->head_size <= 2 * kWarp) {
    return Launch(type, AttendKernel<float, 1>, AttendKernel<Bfloat16, 1>, *task, blocks, kWarp,
                  stream);
  }
  constexpr int kMost = kMostHeadSize / (2 * kWarp);
  return Launch(type, AttendKernel<float, kMost>, AttendKernel<Bfloat16, kMost>, *task, blocks,
                kWarp, stream);
}

int LaunchAddAndNormalize(ProductType type, const AddAndNormalizeTask* task, int num_rows,
                          DeviceStream stream) {
  return Launch(type, AddAndNormalizeKernel<float>, AddAndNormalizeKernel<Bfloat16>, *task,
                Blocks(num_rows), RowThreads(task->size), stream);
}

int LaunchHeadsGelu(ProductType type, const HeadsGeluTask* task, int num_rows,
                    DeviceStream stream) {
  return Launch(type, HeadsGeluKernel<float>, HeadsGeluKernel<Bfloat16>, *task, Blocks(num_rows, 2),
                RowThreads(task->size), stream);
}

int LaunchReadAction(ProductType type, const ReadActionTask* task, int num_rows,
                     DeviceStream stream) {
  return Launch(type, ReadActionKernel<float>, ReadActionKernel<Bfloat16>, *task, Blocks(num_rows),
                RowThreads(task->size), stream);
}

int LaunchReadLatent(const ReadLatentTask* task, int num_rows, DeviceStream stream) {
  return Launch(ProductType::kFp32, ReadLatentKernel, ReadLatentKernel, *task, Blocks(num_rows),
                RowThreads(task->values.support.size), stream);
}

}  // namespace
}  // namespace lzero

// The table of functions, or null when the caller was built with other ones
// (lzero::kStepFunctionsVersion).
extern "C" const lzero::StepFunctions* lz_cuda_step_functions(size_t version) {
  static const lzero::StepFunctions functions = {lzero::ErrorText,
                                                 lzero::MakeProducts,
                                                 lzero::FreeProducts,
                                                 lzero::RunProduct,
                                                 lzero::LaunchPutAction,
                                                 lzero::LaunchAttend,
                                                 lzero::LaunchAddAndNormalize,
                                                 lzero::LaunchHeadsGelu,
                                                 lzero::LaunchReadAction,
                                                 lzero::LaunchReadLatent};
  return version == lzero::kStepFunctionsVersion ? &functions : nullptr;
}
