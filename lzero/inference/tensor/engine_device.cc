#include "lzero/inference/tensor/engine_device.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/nn/functional/planes.h"
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

absl::Status WaitForWeights(const Network& source) {
  const at::Device from = source.device();
  for (const auto& weight : source.named_parameters()) {
    LZ_CHECK_DEVICE(weight.value(), from, absl::StrCat("weight ", weight.key()));
  }
  // They were written on a stream of their owner.
  return from.is_cuda() ? SynchronizeCuda(from.index()) : absl::OkStatus();
}

absl::Status EngineDevice::CopyWeights(const Network& source, Network* network,
                                       absl::FunctionRef<void()> then) const {
  // Between two devices libtorch copies on a stream of the source's, which waits for the stream of
  // this unit and is waited for by it.
  LZ_RETURN_IF_ERROR(WaitForWeights(source));
  LZ_RETURN_IF_ERROR(OnStream([&] {
    network->CopyWeightsFrom(source);
    then();
    return absl::OkStatus();
  }));
  return Wait();
}

absl::StatusOr<at::Device> PrepareDevice(Device device, absl::string_view key) {
  if (device.is_cpu()) return at::Device(at::kCPU);
  const std::string asked = absl::StrCat(key, ": ", DeviceText(device), ": ");
  // The list first: without a device or a driver no library would help.
  const absl::StatusOr<std::vector<std::string>> devices = ListCudaDevices();
  const size_t count = devices.ok() ? devices->size() : 0;
  if (devices.ok() && static_cast<size_t>(device.index) >= count) {
    return absl::NotFoundError(absl::StrCat(
        asked, "this machine has ", count, count == 1 ? " device: " : " devices: ",
        absl::StrJoin(*devices, "; "), "; allowed here: cpu, cuda",
        count == 1 ? "" : absl::StrCat(count == 2 ? ", cuda:" : " to cuda:", count - 1)));
  }
  if (const absl::Status loaded = LoadCuda(); !loaded.ok()) {
    return absl::Status(loaded.code(), absl::StrCat(asked, loaded.message(),
                                                    "; allowed here: cpu (see lzero doctor)"));
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index));
}

absl::StatusOr<EngineDevice> MakeEngineDevice(Device device, absl::string_view key) {
  EngineDevice made;
  LZ_ASSIGN_OR_RETURN(const at::Device prepared, PrepareDevice(device, key));
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
