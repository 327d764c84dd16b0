// Gradients of parameters from kernels that go over blocks of rows, each block adding its share.
#ifndef LZERO_KERNELS_GRADIENT_SUMS_H_
#define LZERO_KERNELS_GRADIENT_SUMS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace lzero {

// Where the gradient of a parameter is written: [size]. Null: there is no such parameter.
struct GradientPlace {
  float* to = nullptr;
  int64_t size = 0;
};

// Adds to the gradients of place i at sums[i], which is null where the place is.
using AddBlock = absl::FunctionRef<void(float* const* sums, int64_t block)>;

// Calls add_block for blocks 0 to num_blocks - 1 and leaves their sums in the places. Neighbouring
// blocks are a part, four in all or fewer; parts run at the same time, and their sums are added in
// order: the numbers do not depend on the number of threads.
void SumOverBlocks(absl::Span<const GradientPlace> places, int64_t num_blocks, AddBlock add_block);

}  // namespace lzero

#endif  // LZERO_KERNELS_GRADIENT_SUMS_H_
