// Memory of the null GPU: the host's, with a table of what is the device's and what is pinned.
#ifndef LZERO_TESTS_NULL_GPU_MEMORY_H_
#define LZERO_TESTS_NULL_GPU_MEMORY_H_

#include <cstddef>

namespace lzero::null_gpu {

enum class MemoryKind { kUnknown, kDevice, kPinned };

// What all of these bytes are; kUnknown for the host's own and for what was freed.
MemoryKind KindOf(const void* begin, size_t size);

// The thread's current device has a context from now on, as after any call that needs one: memory
// and time on a real device.
void MakeContext();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_MEMORY_H_
