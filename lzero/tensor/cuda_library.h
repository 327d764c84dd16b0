// Loads liblzero_cuda, the one library that needs CUDA, when something asks for a GPU: the same
// program runs on machines with and without one. Any thread.
#ifndef LZERO_TENSOR_CUDA_LIBRARY_H_
#define LZERO_TENSOR_CUDA_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lzero {

// The address of what the library exports under that name; the library stays loaded. NotFound says
// in words what is missing: the library beside the program, what it needs, or the name.
absl::StatusOr<void*> FindInCudaLibrary(const char* name);

// The CUDA devices of this machine in the order of their numbers, in words each: name, compute
// capability, memory. NotFound says in words what is missing: the library beside the program, a
// driver, or a device.
absl::StatusOr<std::vector<std::string>> ListCudaDevices();

struct CudaMemory {
  int64_t free_bytes = 0;  // beside what all processes hold, the context of this one among it
  int64_t total_bytes = 0;
};

// The memory of CUDA device `index`, on which the process has a context from then on. Errors as
// ListCudaDevices; Internal, with the device's message, where it cannot be asked.
absl::StatusOr<CudaMemory> FindCudaMemory(int index);

// Where the library `name` of this build lies: beside the program, in tools/ beside a test's
// folder, or in lib/ (installed). NotFound when it was not built.
absl::StatusOr<std::string> FindCudaLibrary(const std::string& name);

}  // namespace lzero

#endif  // LZERO_TENSOR_CUDA_LIBRARY_H_
