// Handles and workspaces of cuBLAS.
#ifndef LZERO_TESTS_NULL_GPU_BLAS_BLAS_H_
#define LZERO_TESTS_NULL_GPU_BLAS_BLAS_H_

#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {

// The workspace of a handle (cublasHandle_t), which every product with it writes; size 0 for none.
Range WorkspaceOf(const void* handle);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_BLAS_BLAS_H_
