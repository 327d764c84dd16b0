#include "lzero/inference/engine_device.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/nn/convolution.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/tensor/shape_check.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// The table that liblzero_cuda exports under `name`.
template <typename Table>
absl::StatusOr<const Table*> FindTable(const char* name, size_t version) {
  LZ_ASSIGN_OR_RETURN(void* const found, FindInCudaLibrary(name));
  const Table* table = reinterpret_cast<const Table* (*)(size_t)>(found)(version);
  if (table != nullptr) return table;
  return absl::FailedPreconditionError(
      absl::StrCat("liblzero_cuda.so is of another build: ", name, " has other tables"));
}

}  // namespace

absl::Status EngineDevice::OnStream(absl::FunctionRef<absl::Status()> body) const {
  if (backend == nullptr) return body();
  const ConvolutionPrecision precision(rounds_convolutions);
  absl::Status status;
  LZ_RETURN_IF_ERROR(backend->OnStream([&] { status = body(); }));
  return status;
}

absl::Status EngineDevice::CopyWeights(const Network& source, Network* network,
                                       absl::FunctionRef<void()> then) const {
  for (const auto& weight : source.named_parameters()) {
    LZ_CHECK_DEVICE(weight.value(), network->device(), absl::StrCat("weight ", weight.key()));
  }
  // The source was written on a stream of its owner.
  if (backend != nullptr) LZ_RETURN_IF_ERROR(backend->Synchronize());
  LZ_RETURN_IF_ERROR(OnStream([&] {
    network->CopyWeightsFrom(source);
    then();
    return absl::OkStatus();
  }));
  return Wait();
}

absl::StatusOr<at::Device> PrepareDevice(Device device) {
  if (device == Device::kCpu) return at::Device(at::kCPU);
  if (const absl::Status loaded = LoadCuda(); !loaded.ok()) {
    return absl::Status(loaded.code(), absl::StrCat("inference.device: cuda: ", loaded.message(),
                                                    "; allowed here: cpu (see lzero doctor)"));
  }
  return at::Device(at::kCUDA, 0);
}

absl::StatusOr<EngineDevice> MakeEngineDevice(Device device) {
  EngineDevice made;
  LZ_ASSIGN_OR_RETURN(const at::Device prepared, PrepareDevice(device));
  if (!prepared.is_cuda()) return made;
  LZ_ASSIGN_OR_RETURN(made.backend, MakeCudaGraphBackend(prepared.index()));
  LZ_ASSIGN_OR_RETURN(made.search_functions, FindTable<DeviceFunctions>("lz_cuda_search_functions",
                                                                        kDeviceFunctionsVersion));
  LZ_ASSIGN_OR_RETURN(
      made.context_functions,
      FindTable<ContextFunctions>("lz_cuda_context_functions", kContextFunctionsVersion));
  LZ_ASSIGN_OR_RETURN(made.step_functions,
                      FindTable<StepFunctions>("lz_cuda_step_functions", kStepFunctionsVersion));
  return made;
}

absl::StatusOr<EngineDevice> MakeEngineDevice(const InferenceConfig& config) {
  LZ_ASSIGN_OR_RETURN(EngineDevice made, MakeEngineDevice(config.device));
  made.rounds_convolutions = config.dtype != InferenceDtype::kFp32;
  return made;
}

}  // namespace lzero
