// Products, by cuBLAS and cuBLASLt.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "tests/null_gpu/self_test/misuse.h"

namespace lzero::null_gpu {
namespace {

constexpr float kOne = 1.0f, kTwo = 2.0f, kZero = 0.0f;

// A handle of the first device, which has no workspace.
struct Blas {
  Blas() { cublasCreate(&handle); }
  ~Blas() { cublasDestroy(handle); }
  void Multiply(cudaStream_t stream) const {
    cublasSetStream(handle, stream);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &kOne, nullptr, 1, nullptr, 1, &kZero,
                nullptr, 1);
  }

  cublasHandle_t handle = nullptr;
};

void BlasProduct(const Scene& scene) { Blas().Multiply(scene.first); }

void BlasInCapture(const Scene& scene) {
  const Blas blas;
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  blas.Multiply(scene.first);
  cudaStreamEndCapture(scene.first, &graph);
}

void WorkspaceOfHost(const Scene& scene) { cublasSetWorkspace(Blas().handle, scene.pinned, kSize); }

void ForeignWorkspace(const Scene&) {
  const Elsewhere other;
  cublasSetWorkspace(Blas().handle, other.memory, kSize);
}

void ForeignBlas(const Scene&) {
  const Elsewhere other;
  Blas().Multiply(other.stream);
}

void ForeignBlasLt(const Scene&) {
  const Elsewhere other;
  cublasLtHandle_t handle = nullptr;
  cublasLtCreate(&handle);
  cublasLtMatmul(handle, nullptr, &kOne, nullptr, nullptr, nullptr, nullptr, &kZero, nullptr,
                 nullptr, nullptr, nullptr, nullptr, nullptr, 0, other.stream);
  cublasLtDestroy(handle);
}

// What is asked of a product of one number by itself.
struct Asked {
  cublasOperation_t transposed = CUBLAS_OP_T;
  const float* alpha = &kOne;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool is_in_place = true;
};

void Multiply(const Scene& scene, const Asked& asked) {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &asked.transposed,
                                 sizeof(asked.transposed));
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &asked.epilogue,
                                 sizeof(asked.epilogue));
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 1, 1, 1);
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t chosen;
  int num_chosen = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, product, layout, layout, layout, layout, preference, 1,
                                 &chosen, &num_chosen);
  auto* number = static_cast<float*>(scene.memory);
  cublasLtMatmul(handle, product, asked.alpha, number, layout, number, layout, &kZero,
                 asked.is_in_place ? number : number + 1, layout, number, layout, &chosen.algo,
                 nullptr, 0, scene.first);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
  cublasLtDestroy(handle);
}

void KnownProduct(const Scene& scene) { Multiply(scene, {}); }

void UnknownProducts(const Scene& scene) {
  Multiply(scene, {.transposed = CUBLAS_OP_N});
  Multiply(scene, {.alpha = &kTwo});
  Multiply(scene, {.epilogue = CUBLASLT_EPILOGUE_RELU});
  Multiply(scene, {.is_in_place = false});
}

}  // namespace

std::vector<Case> ProductCases() {
  return {{"blas_product", BlasProduct},          {"blas_in_capture", BlasInCapture},
          {"workspace_of_host", WorkspaceOfHost}, {"foreign_workspace", ForeignWorkspace},
          {"foreign_blas", ForeignBlas},          {"foreign_blas_lt", ForeignBlasLt},
          {"known_product", KnownProduct},        {"unknown_products", UnknownProducts}};
}

}  // namespace lzero::null_gpu
