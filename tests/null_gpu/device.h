// Contexts of devices, which are memory and time on a real one.
#ifndef LZERO_TESTS_NULL_GPU_DEVICE_H_
#define LZERO_TESTS_NULL_GPU_DEVICE_H_

namespace lzero::null_gpu {

// The thread's current device has a context from now on, as after any call that needs one.
void MakeContext();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_DEVICE_H_
