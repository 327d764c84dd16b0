// cuBLASLt: products of the shapes that lzero asks for, computed on the host. At level control they
// compute nothing; those of libtorch come here at that level alone.
#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/null_gpu/device.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"
#include "tests/null_gpu/work.h"
#include "tests/support/one_token_lane.h"

// Or a handle of cuBLAS, whose first member is the same.
struct cublasLtContext {
  int device = lzero::null_gpu::CurrentDevice();
};

namespace lzero::null_gpu {
namespace {

// Column-major, as all of them are.
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, stride;
};

// What a descriptor is asked to do; bytes of each attribute that was set.
struct Product {
  cublasComputeType_t compute;
  std::map<int, std::vector<char>> attributes;

  template <typename T>
  T Get(cublasLtMatmulDescAttributes_t which, T otherwise) const {
    const auto found = attributes.find(which);
    if (found == attributes.end()) return otherwise;
    std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
};

// Descriptors of cuBLASLt are arrays of its own; ours are behind the first of their words.
template <typename T, typename Handle>
const T& Behind(const Handle* handle) {
  return *reinterpret_cast<const T*>(handle);
}

size_t SizeOf(cudaDataType_t type) { return type == CUDA_R_16BF ? 2 : 4; }

Range RangeOf(const void* begin, const Layout& layout, bool writes) {
  const auto count = static_cast<size_t>(layout.stride * (layout.columns - 1) + layout.rows);
  return {begin, count * SizeOf(layout.type), writes};
}

float Read(const void* begin, cudaDataType_t type, int64_t at) {
  if (type == CUDA_R_32F) return static_cast<const float*>(begin)[at];
  return static_cast<float>(static_cast<const Bfloat16*>(begin)[at]);
}

// TF32: ten bits of mantissa, rounded to the nearest.
float RoundToTf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}

// A matrix as float32, its columns one after the other.
std::vector<float> Columns(const void* begin, const Layout& layout, bool is_tf32) {
  std::vector<float> columns;
  columns.reserve(static_cast<size_t>(layout.rows * layout.columns));
  for (int64_t column = 0; column < layout.columns; ++column) {
    for (int64_t row = 0; row < layout.rows; ++row) {
      const float x = Read(begin, layout.type, column * layout.stride + row);
      columns.push_back(is_tf32 ? RoundToTf32(x) : x);
    }
  }
  return columns;
}

float Dot(const float* a, const float* b, int64_t count) {
  constexpr int kLanes = 16;  // a compiler makes vectors of them
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0.0f;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

struct Operands {
  const void *a, *b;
  void* d;
  Layout a_layout, b_layout, d_layout;
  bool is_tf32;
  float beta;
  const void* gelu_bias;  // null: no epilogue
};

// d = a^T b + beta d, or gelu(a^T b + bias).
void Multiply(const Operands& all) {
  const std::vector<float> a = Columns(all.a, all.a_layout, all.is_tf32);
  const std::vector<float> b = Columns(all.b, all.b_layout, all.is_tf32);
  const int64_t inner = all.a_layout.rows;
  for (int64_t column = 0; column < all.d_layout.columns; ++column) {
    for (int64_t row = 0; row < all.d_layout.rows; ++row) {
      const int64_t at = column * all.d_layout.stride + row;
      float sum = Dot(a.data() + row * inner, b.data() + column * inner, inner);
      if (all.beta != 0.0f) sum += all.beta * Read(all.d, all.d_layout.type, at);
      if (all.gelu_bias != nullptr) {
        sum = GeluOf(sum + Read(all.gelu_bias, all.a_layout.type, row));
      }
      if (all.d_layout.type == CUDA_R_32F) {
        static_cast<float*>(all.d)[at] = sum;
      } else {
        static_cast<Bfloat16*>(all.d)[at] = Bfloat16(sum);
      }
    }
  }
}

template <typename Handle, typename T>
cublasStatus_t Make(Handle* handle, T value) {
  *handle = reinterpret_cast<Handle>(new T(std::move(value)));
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace lzero::null_gpu

using lzero::null_gpu::Behind;
using lzero::null_gpu::Layout;
using lzero::null_gpu::Product;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t /*scale*/) {
  return lzero::null_gpu::Make(made, Product{compute, {}});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete reinterpret_cast<Product*>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t size) {
  const char* bytes = static_cast<const char*>(value);
  reinterpret_cast<Product*>(product)->attributes[which].assign(bytes, bytes + size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
  return lzero::null_gpu::Make(
      made, Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete reinterpret_cast<Layout*>(made);
  return CUBLAS_STATUS_SUCCESS;
}

// There is one way to compute a product here, whatever is preferred.
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return lzero::null_gpu::Make(made, uint32_t{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  delete reinterpret_cast<uint32_t*>(made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t /*preference*/,
                                                    cublasLtMatmulPreferenceAttributes_t /*which*/,
                                                    const void* /*value*/, size_t /*size*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t /*product*/, cublasLtMatrixLayout_t /*a*/,
    cublasLtMatrixLayout_t /*b*/, cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t /*d*/,
    cublasLtMatmulPreference_t /*preference*/, int /*asked*/,
    cublasLtMatmulHeuristicResult_t* result, int* num_found) {
  *result = {};
  *num_found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t descriptor,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t /*c_layout*/, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_size, cudaStream_t stream) {
  using namespace lzero::null_gpu;  // NOLINT(google-build-using-namespace): this function alone
  const Lock lock;
  const Stream* on = FindStream(stream);
  if (on != nullptr &&
      IsOfAnother("a handle of cuBLASLt", handle->device, "a stream", on->device)) {
    return CUBLAS_STATUS_ARCH_MISMATCH;
  }
  Work work = {"cublasLtMatmul", nullptr, {{workspace, workspace_size, true}}};
  if (GetSettings().level != Level::kControl) {
    const auto& product = Behind<Product>(descriptor);
    const auto epilogue = product.Get(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
    const bool is_known =
        algorithm != nullptr &&
        product.Get(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N) == CUBLAS_OP_T && c == d &&
        *static_cast<const float*>(alpha) == 1.0f &&
        (epilogue == CUBLASLT_EPILOGUE_DEFAULT || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS);
    if (!is_known) {
      Violation("cublasLtMatmul is asked for what nothing here computes");
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    const Operands all = {a,
                          b,
                          d,
                          Behind<Layout>(a_layout),
                          Behind<Layout>(b_layout),
                          Behind<Layout>(d_layout),
                          product.compute == CUBLAS_COMPUTE_32F_FAST_TF32,
                          *static_cast<const float*>(beta),
                          epilogue == CUBLASLT_EPILOGUE_GELU_BIAS
                              ? product.Get<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr)
                              : nullptr};
    work.run = [all] { Multiply(all); };
    work.ranges.push_back(RangeOf(a, all.a_layout, false));
    work.ranges.push_back(RangeOf(b, all.b_layout, false));
    work.ranges.push_back(RangeOf(d, all.d_layout, true));
  }
  return Issue(stream, std::move(work)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                       : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
