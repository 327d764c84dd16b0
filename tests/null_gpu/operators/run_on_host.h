// An operator of a CUDA tensor, run by the CPU's kernel over the same memory.
#ifndef LZERO_TESTS_NULL_GPU_OPERATORS_RUN_ON_HOST_H_
#define LZERO_TESTS_NULL_GPU_OPERATORS_RUN_ON_HOST_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {

// A tensor of the CPU over the memory of `tensor`, which must be of the device and lives on without
// it; `tensor` itself where it is another's.
at::Tensor OnHost(const at::Tensor& tensor);

// The bytes of a tensor, from its first element to its last.
Range RangeOf(const at::Tensor& tensor, bool writes);

// Issues `work` on libtorch's current stream; throws what libtorch throws for an error of CUDA.
void IssueOnCurrentStream(Work work);

// The boxed kernel of every operator: takes the arguments from `stack`, issues the work and leaves
// the results there. Operators whose results the host needs at once wait for their stream first.
void RunOnHost(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_OPERATORS_RUN_ON_HOST_H_
