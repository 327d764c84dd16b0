// The memory of tensors on the CPU, kept for the next tensor of its size when one is freed: an
// update allocates the same sizes again and again, and giving them back to the system costs a page
// fault for every 4 KiB. At most 2 GiB are kept. Installed for the whole process, for good. Any
// thread.
#ifndef LZERO_TENSOR_HOST_MEMORY_H_
#define LZERO_TENSOR_HOST_MEMORY_H_

#include <cstdint>

namespace lzero {

// From now on libtorch's tensors on the CPU take their memory here; a second call changes nothing.
// Call it before threads begin that allocate tensors.
void KeepTensorMemory();

// Bytes that are kept for later and in no tensor now.
int64_t KeptTensorBytes();

// Gives back to the system what no tensor uses, and what the C library keeps.
void ReleaseTensorMemory();

}  // namespace lzero

#endif  // LZERO_TENSOR_HOST_MEMORY_H_
