// The operators of libtorch's CUDA key, which run the CPU's kernels: a library of its own, because
// it needs libtorch_cuda, which is loaded late or never.
#ifndef LZERO_TESTS_NULL_GPU_OPERATOR_LIBRARY_H_
#define LZERO_TESTS_NULL_GPU_OPERATOR_LIBRARY_H_

namespace lzero::null_gpu {

// Loads the library once libtorch_cuda is there, unless the level is kControl.
void LoadOperators();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_OPERATOR_LIBRARY_H_
