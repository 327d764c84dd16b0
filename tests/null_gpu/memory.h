// Memory of the null GPU: the host's, with a table of what is a device's and what is pinned.
#ifndef LZERO_TESTS_NULL_GPU_MEMORY_H_
#define LZERO_TESTS_NULL_GPU_MEMORY_H_

#include <cstddef>

namespace lzero::null_gpu {

enum class MemoryKind { kUnknown, kDevice, kPinned };

// What all of these bytes are; kUnknown for the host's own and for what was freed.
MemoryKind KindOf(const void* begin, size_t size);

// The device that this byte lies on; -1 for what is no memory of a device.
int DeviceOf(const void* at);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_MEMORY_H_
