// Counts what this test program allocates: operator new and libtorch's CPU memory. Not in the same
// file as what it counts: the compiler would see through it. Thread-safe.
#ifndef LZERO_TESTS_SUPPORT_TORCH_COUNTED_ALLOCATIONS_H_
#define LZERO_TESTS_SUPPORT_TORCH_COUNTED_ALLOCATIONS_H_

#include <cstdint>

namespace lzero {

// Calls of operator new, and of libtorch's CPU allocator since CountTorchAllocations.
int64_t NumAllocations();

// Blocks of operator new that are not deleted yet.
int64_t NumLiveBlocks();

// From now on libtorch's CPU allocator is counted, too.
void CountTorchAllocations();

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_TORCH_COUNTED_ALLOCATIONS_H_
