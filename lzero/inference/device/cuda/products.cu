#include <cublasLt.h>
#include <dlfcn.h>

#include <cstdint>
#include <new>

#include "lzero/inference/device/cuda/products.h"

#define LZ_TEXT_OF(number) #number
#define LZ_LIBRARY_OF(major) "libcublasLt.so." LZ_TEXT_OF(major)

namespace lzero {

// What is used of cuBLASLt.
struct BlasFunctions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) make_product;
  decltype(&cublasLtMatmulDescDestroy) free_product;
  decltype(&cublasLtMatmulDescSetAttribute) set_product;
  decltype(&cublasLtMatrixLayoutCreate) make_layout;
  decltype(&cublasLtMatrixLayoutDestroy) free_layout;
  decltype(&cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) free_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) choose;
  decltype(&cublasLtMatmul) multiply;
};

struct Products {
  BlasFunctions blas;
  cublasLtHandle_t handle;
  ProductType type;
  void* workspace;
  size_t workspace_bytes;
};

namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool FindAll(BlasFunctions* blas) {
  void* const library = dlopen(LZ_LIBRARY_OF(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && Find(library, "cublasLtCreate", &blas->create) &&
         Find(library, "cublasLtDestroy", &blas->destroy) &&
         Find(library, "cublasLtMatmulDescCreate", &blas->make_product) &&
         Find(library, "cublasLtMatmulDescDestroy", &blas->free_product) &&
         Find(library, "cublasLtMatmulDescSetAttribute", &blas->set_product) &&
         Find(library, "cublasLtMatrixLayoutCreate", &blas->make_layout) &&
         Find(library, "cublasLtMatrixLayoutDestroy", &blas->free_layout) &&
         Find(library, "cublasLtMatmulPreferenceCreate", &blas->make_preference) &&
         Find(library, "cublasLtMatmulPreferenceDestroy", &blas->free_preference) &&
         Find(library, "cublasLtMatmulPreferenceSetAttribute", &blas->set_preference) &&
         Find(library, "cublasLtMatmulAlgoGetHeuristic", &blas->choose) &&
         Find(library, "cublasLtMatmul", &blas->multiply);
}

int ErrorOf(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? 0 : kProductError + static_cast<int>(status);
}

// The descriptors of one product, freed with it. To cuBLASLt, whose matrices are column-major, rows
// of x are columns, and y^T [out, rows] = W [out, in] x^T [in, rows].
class Descriptors {
 public:
  explicit Descriptors(const Products& products) : blas_(products.blas) {}
  ~Descriptors() {
    if (product != nullptr) blas_.free_product(product);
    for (cublasLtMatrixLayout_t layout : {weight, x, y}) {
      if (layout != nullptr) blas_.free_layout(layout);
    }
    if (preference != nullptr) blas_.free_preference(preference);
  }

  cublasStatus_t Make(const Products& products, const ProductTask& task) {
    const bool is_bf16 = products.type == ProductType::kBf16;
    const cudaDataType_t operands = is_bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const bool has_gelu = task.gelu_bias != nullptr;
    Add(blas_.make_product(
        &product,
        products.type == ProductType::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
        CUDA_R_32F));
    if (status_ == CUBLAS_STATUS_SUCCESS) {
      Set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
      if (has_gelu) {
        Set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
        Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, task.gelu_bias);
        Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, operands);
      }
    }
    const auto in = static_cast<uint64_t>(task.in), out = static_cast<uint64_t>(task.out);
    const auto rows = static_cast<uint64_t>(task.rows);
    Add(blas_.make_layout(&weight, operands, in, out, task.in));
    Add(blas_.make_layout(&x, operands, in, rows, task.x_stride));
    Add(blas_.make_layout(&y, has_gelu ? operands : CUDA_R_32F, out, rows, task.out));
    Add(blas_.make_preference(&preference));
    if (status_ != CUBLAS_STATUS_SUCCESS) return status_;
    Add(blas_.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                             &products.workspace_bytes, sizeof(products.workspace_bytes)));
    // What the addresses are multiples of: not of 256 bytes, which is taken for granted.
    const auto set_alignment = [&](cublasLtMatmulPreferenceAttributes_t which, const void* at) {
      uint32_t bytes = 256;
      while (reinterpret_cast<uintptr_t>(at) % bytes != 0) bytes /= 2;
      Add(blas_.set_preference(preference, which, &bytes, sizeof(bytes)));
    };
    set_alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, task.weight);
    set_alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, task.x);
    set_alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, task.y);
    set_alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, task.y);
    return status_;
  }

  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t weight = nullptr, x = nullptr, y = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;

 private:
  void Add(cublasStatus_t status) {
    if (status_ == CUBLAS_STATUS_SUCCESS) status_ = status;
  }
  template <typename T>
  void Set(cublasLtMatmulDescAttributes_t which, T value) {
    Add(blas_.set_product(product, which, &value, sizeof(value)));
  }

  const BlasFunctions& blas_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

}  // namespace

int MakeProducts(ProductType type, void* workspace, size_t workspace_bytes, Products** products) {
  *products = nullptr;
  BlasFunctions blas;
  if (!FindAll(&blas)) return kNoProductLibrary;
  cublasLtHandle_t handle;
  if (const int error = ErrorOf(blas.create(&handle)); error != 0) return error;
  *products = new (std::nothrow) Products{blas, handle, type, workspace, workspace_bytes};
  if (*products != nullptr) return 0;
  blas.destroy(handle);
  return ErrorOf(CUBLAS_STATUS_ALLOC_FAILED);
}

void FreeProducts(Products* products) {
  if (products == nullptr) return;
  products->blas.destroy(products->handle);
  delete products;
}

int RunProduct(Products* products, const ProductTask* task, DeviceStream stream) {
  const BlasFunctions& blas = products->blas;
  Descriptors made(*products);
  cublasStatus_t status = made.Make(*products, *task);
  if (status != CUBLAS_STATUS_SUCCESS) return ErrorOf(status);
  cublasLtMatmulHeuristicResult_t chosen;
  int num_chosen = 0;
  status = blas.choose(products->handle, made.product, made.weight, made.x, made.y, made.y,
                       made.preference, 1, &chosen, &num_chosen);
  if (status == CUBLAS_STATUS_SUCCESS && num_chosen == 0) status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (status != CUBLAS_STATUS_SUCCESS) return ErrorOf(status);
  const float one = 1.0f, kept = task->adds ? 1.0f : 0.0f;
  return ErrorOf(blas.multiply(products->handle, made.product, &one, task->weight, made.weight,
                               task->x, made.x, &kept, task->y, made.y, task->y, made.y,
                               &chosen.algo, products->workspace, products->workspace_bytes,
                               stream));
}

}  // namespace lzero
