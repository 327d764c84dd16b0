// The devices of the null GPU, counted from 0, and the one that the calling thread works on.
#ifndef LZERO_TESTS_NULL_GPU_DEVICE_H_
#define LZERO_TESTS_NULL_GPU_DEVICE_H_

#include <string>

namespace lzero::null_gpu {

// The device of cudaSetDevice in this thread.
int CurrentDevice();

// The thread's current device has a context from now on, as after any call that needs one: memory
// and time on a real device.
void MakeContext();

// A violation, and true, where what belongs to `device` is given to one of `other`.
bool IsOfAnother(const std::string& what, int device, const std::string& to_what, int other);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_DEVICE_H_
