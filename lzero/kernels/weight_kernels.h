// Passes over all weights of a model on the CPU, float32: what an update does beside the optimiser.
// One after another in the caller's thread: they wait for memory, not for arithmetic. No tensors
// here.
#ifndef LZERO_KERNELS_WEIGHT_KERNELS_H_
#define LZERO_KERNELS_WEIGHT_KERNELS_H_

#include <cstdint>

namespace lzero {

// The sum of the squares of values [count].
double SumOfSquares(const float* values, int64_t count);

// to [count] <- to + rate * (from - to).
void MoveTowards(const float* from, float rate, int64_t count, float* to);

}  // namespace lzero

#endif  // LZERO_KERNELS_WEIGHT_KERNELS_H_
