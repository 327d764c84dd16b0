// cuBLAS as libtorch uses it: handles, workspaces, and products that compute nothing but take their
// place in the stream. Its headers are not included: the arguments that are read here are few.
#include "tests/null_gpu/blas.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/memory.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"

namespace lzero::null_gpu {
namespace {

constexpr int kSuccess = 0, kNotInitialized = 1, kExecutionFailed = 13;

struct Handle {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  size_t size = 0;
};

int IssueProduct(cudaStream_t stream, std::string name, const Range& workspace) {
  if (GetSettings().level != Level::kControl)
    Violation(name + " has nothing that runs in its place");
  const cudaError_t error = Issue(stream, {std::move(name), nullptr, {workspace}});
  return error == cudaSuccess ? kSuccess : kExecutionFailed;
}

int Product(const Handle* handle, const char* name) {
  const Lock lock;
  const Stream* stream = FindStream(handle->stream);
  if (stream != nullptr && stream->capture != nullptr && handle->size == 0) {
    Violation(std::string(name) + " is captured without a workspace of libtorch");
  }
  return IssueProduct(handle->stream, name, WorkspaceOf(handle));
}

int MakeDescriptor(void** descriptor) {
  *descriptor = std::calloc(1, 256);
  return kSuccess;
}

int FreeDescriptor(void* descriptor) {
  std::free(descriptor);
  return kSuccess;
}

}  // namespace

Range WorkspaceOf(const void* handle) {
  const Lock lock;
  const auto& blas = *static_cast<const Handle*>(handle);
  return {blas.workspace, blas.size, true};
}

}  // namespace lzero::null_gpu

using lzero::null_gpu::Handle;

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

int cublasLtMatmulDescCreate(void** made, int /*compute*/, int /*scale*/) {
  return lzero::null_gpu::MakeDescriptor(made);
}
int cublasLtMatmulDescDestroy(void* made) { return lzero::null_gpu::FreeDescriptor(made); }
int cublasLtMatrixLayoutCreate(void** made, int /*type*/, uint64_t /*rows*/, uint64_t /*columns*/,
                               int64_t /*stride*/) {
  return lzero::null_gpu::MakeDescriptor(made);
}
int cublasLtMatrixLayoutDestroy(void* made) { return lzero::null_gpu::FreeDescriptor(made); }
int cublasLtMatmulPreferenceCreate(void** made) { return lzero::null_gpu::MakeDescriptor(made); }
int cublasLtMatmulPreferenceDestroy(void* made) { return lzero::null_gpu::FreeDescriptor(made); }

int cublasLtMatmulAlgoGetHeuristic(void* /*handle*/, void* /*product*/, void* /*a*/, void* /*b*/,
                                   void* /*c*/, void* /*d*/, void* /*preference*/, int /*asked*/,
                                   void* result, int* num_found) {
  constexpr size_t kResultSize = 96;  // cublasLtMatmulHeuristicResult_t
  std::memset(result, 0, kResultSize);
  *num_found = 1;
  return lzero::null_gpu::kSuccess;
}

int cublasLtMatmul(void* /*handle*/, void* /*product*/, const void* /*alpha*/, const void* /*a*/,
                   void* /*a_layout*/, const void* /*b*/, void* /*b_layout*/, const void* /*beta*/,
                   const void* /*c*/, void* /*c_layout*/, void* /*d*/, void* /*d_layout*/,
                   const void* /*algorithm*/, void* workspace, size_t size, cudaStream_t stream) {
  return lzero::null_gpu::IssueProduct(stream, "cublasLtMatmul", {workspace, size, true});
}

}  // extern "C"
