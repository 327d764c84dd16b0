#include "lzero/graph/cuda_graph_library.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// A backend, or null with an explanation in `error`.
using MakeBackend = GraphBackend* (*)(size_t version, int device, char* error, size_t size);
// 0, or an error code with an explanation in `error`.
using Synchronize = int (*)(int device, char* error, size_t size);

struct Library {
  absl::Status status;
  MakeBackend make = nullptr;
  Synchronize synchronize = nullptr;
};

Library Load() {
  const absl::StatusOr<std::string> path = FindCudaLibrary("liblzero_cuda_graph.so");
  if (!path.ok()) return {path.status()};
  // Global: libtorch finds the CUDA part by its registrations, and the driver's library by name.
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const std::string cause = dlerror();
    const char* help = absl::StrContains(cause, "cannot open shared object file")
                           ? "; tools/setup.sh --cuda installs what libtorch's CUDA part needs"
                           : "";
    return {absl::FailedPreconditionError(absl::StrCat("cannot load CUDA: ", cause, help))};
  }
  // libtorch opens the driver's library where an exception ends the process.
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) {
    return {absl::FailedPreconditionError(absl::StrCat("cannot load CUDA's driver: ", dlerror()))};
  }
  // libtorch asks once whether CUDA is there, at the first call that could want it.
  if (!at::detail::getCUDAHooks().hasCUDART()) {
    return {absl::FailedPreconditionError(
        "cannot load CUDA: this process has used libtorch without it; load CUDA first")};
  }
  const auto make = reinterpret_cast<MakeBackend>(dlsym(library, "lz_cuda_make_graph_backend"));
  const auto synchronize = reinterpret_cast<Synchronize>(dlsym(library, "lz_cuda_synchronize"));
  if (make == nullptr || synchronize == nullptr) {
    return {absl::FailedPreconditionError(absl::StrCat(*path, " is of another version"))};
  }
  return {absl::OkStatus(), make, synchronize};
}

const Library& Loaded() {
  static const Library& library = *new Library(Load());
  return library;
}

}  // namespace

absl::Status LoadCuda() {
  // First: without a device or a driver no library would help.
  LZ_RETURN_IF_ERROR(ListCudaDevices().status());
  return Loaded().status;
}

absl::Status SynchronizeCuda(int index) {
  LZ_RETURN_IF_ERROR(Loaded().status);
  char error[1024] = "";
  if (Loaded().synchronize(index, error, sizeof(error)) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("waiting for cuda:", index, ": ", error));
}

absl::StatusOr<std::unique_ptr<GraphBackend>> MakeCudaGraphBackend(int index) {
  LZ_RETURN_IF_ERROR(LoadCuda());
  char error[1024] = "";
  // The library takes what CatchTorch calls from the program: named here, every program has it.
  const absl::StatusOr<GraphBackend*> backend =
      CatchTorch([&] { return Loaded().make(kGraphBackendVersion, index, error, sizeof(error)); });
  LZ_RETURN_IF_ERROR(backend.status());
  if (*backend == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("cuda:", index, ": ", error));
  }
  return std::unique_ptr<GraphBackend>(*backend);
}

}  // namespace lzero
