// Loads liblzero_cuda_graph, which needs libtorch's CUDA part, when a config asks for a device with
// graphs: the same program runs on machines without one. Any thread.
#ifndef LZERO_GRAPH_CUDA_GRAPH_LIBRARY_H_
#define LZERO_GRAPH_CUDA_GRAPH_LIBRARY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/graph/graph_backend.h"

namespace lzero {

// Loads the library and, with it, libtorch's CUDA part, so that tensors can live on a CUDA device.
// FailedPrecondition says in words what is missing (the library, a CUDA wheel with the command that
// installs it, a driver, a device). A second call loads nothing more, but
// lists the devices again.
absl::Status LoadCuda();

// Waits for all work on CUDA device `index`, on which something of this process lies. Not while a
// unit captures: it waits for the end of that first. Internal, with the device's message.
absl::Status SynchronizeCuda(int index);

// A new unload unit on CUDA device `index`. Errors as LoadCuda.
absl::StatusOr<std::unique_ptr<GraphBackend>> MakeCudaGraphBackend(int index);

}  // namespace lzero

#endif  // LZERO_GRAPH_CUDA_GRAPH_LIBRARY_H_
