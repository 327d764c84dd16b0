// cuBLAS as libtorch uses it: handles, workspaces, and products that compute nothing but take their
// place in the stream. Its headers are not included: the arguments that are read here are few.
// cuBLASLt is in blas_lt.cc.
#include "tests/null_gpu/blas/blas.h"

#include <cuda_runtime_api.h>

#include <string>

#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/device.h"
#include "tests/null_gpu/memory.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"

namespace lzero::null_gpu {
namespace {

constexpr int kSuccess = 0, kNotInitialized = 1, kExecutionFailed = 13;

struct Handle {
  int device = CurrentDevice();  // first: libtorch gives it to cuBLASLt as well
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  size_t size = 0;
};

int Product(const Handle* handle, const char* name) {
  const Lock lock;
  if (GetSettings().level != Level::kControl) {
    Violation(std::string(name) + " has nothing that runs in its place");
  }
  const Stream* stream = FindStream(handle->stream);
  if (stream != nullptr)
    IsOfAnother("a handle of cuBLAS", handle->device, "a stream", stream->device);
  if (stream != nullptr && stream->capture != nullptr && handle->size == 0) {
    Violation(std::string(name) + " is captured without a workspace of libtorch");
  }
  const cudaError_t error = Issue(handle->stream, {name, nullptr, {WorkspaceOf(handle)}});
  return error == cudaSuccess ? kSuccess : kExecutionFailed;
}

}  // namespace

Range WorkspaceOf(const void* handle) {
  const Lock lock;
  const auto& blas = *static_cast<const Handle*>(handle);
  return {blas.workspace, blas.size, true};
}

}  // namespace lzero::null_gpu

using lzero::null_gpu::Handle;

// NOLINTBEGIN(readability-identifier-naming): names of C
extern "C" {

int cublasCreate_v2(void** handle) {
  const lzero::null_gpu::Lock lock;
  if (lzero::null_gpu::RefuseInCapture("cublasCreate")) return lzero::null_gpu::kNotInitialized;
  *handle = new Handle;
  return lzero::null_gpu::kSuccess;
}

int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return lzero::null_gpu::kSuccess;
}

int cublasSetStream_v2(Handle* handle, cudaStream_t stream) {
  handle->stream = stream;
  return lzero::null_gpu::kSuccess;
}

int cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t size) {
  const lzero::null_gpu::Lock lock;
  using lzero::null_gpu::MemoryKind;
  if (size != 0 && lzero::null_gpu::KindOf(workspace, size) != MemoryKind::kDevice) {
    lzero::null_gpu::Violation("a workspace of cuBLAS outside of the device's memory");
  } else if (size != 0) {
    lzero::null_gpu::IsOfAnother("a workspace", lzero::null_gpu::DeviceOf(workspace),
                                 "a handle of cuBLAS", handle->device);
  }
  handle->workspace = workspace;
  handle->size = size;
  return lzero::null_gpu::kSuccess;
}

int cublasGetMathMode(Handle* /*handle*/, int* mode) { return *mode = 0; }
int cublasGetPointerMode_v2(Handle* /*handle*/, int* mode) { return *mode = 0; }

int cublasSgemm_v2(Handle* h) { return lzero::null_gpu::Product(h, "cublasSgemm"); }
int cublasSgemmEx(Handle* h) { return lzero::null_gpu::Product(h, "cublasSgemmEx"); }
int cublasGemmEx(Handle* h) { return lzero::null_gpu::Product(h, "cublasGemmEx"); }
int cublasSgemv_v2(Handle* h) { return lzero::null_gpu::Product(h, "cublasSgemv"); }
int cublasSdot_v2(Handle* h) { return lzero::null_gpu::Product(h, "cublasSdot"); }
int cublasSgemmStridedBatched(Handle* h) {
  return lzero::null_gpu::Product(h, "cublasSgemmStridedBatched");
}
int cublasGemmStridedBatchedEx(Handle* h) {
  return lzero::null_gpu::Product(h, "cublasGemmStridedBatchedEx");
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
