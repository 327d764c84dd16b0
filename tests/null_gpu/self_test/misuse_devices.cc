// What belongs to one device, given to another.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

#include "tests/null_gpu/self_test/misuse.h"

namespace lzero::null_gpu {
namespace {

// Bytes of the first device to the second by one of its streams, which waits for the first, and
// back by two other calls.
void CopyBetweenDevices(const Scene& scene) {
  const Elsewhere other;
  cudaEvent_t filled = nullptr;
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaMemsetAsync(scene.memory, 7, kSize, scene.first);
  cudaEventRecord(filled, scene.first);
  cudaStreamWaitEvent(other.stream, filled, 0);
  cudaMemcpyPeerAsync(other.memory, 1, scene.memory, 0, kSize, other.stream);
  cudaStreamSynchronize(other.stream);
  cudaMemsetAsync(scene.memory, 1, kSize, scene.first);
  cudaMemcpyAsync(scene.memory, other.memory, kSize, cudaMemcpyDeviceToDevice, scene.first);
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.first);
  cudaStreamSynchronize(scene.first);
  cudaEventDestroy(filled);
  std::printf("copied: %d\n", static_cast<const char*>(scene.pinned)[kSize - 1]);
}

// The copy waits for nothing.
void CopyTooEarly(const Scene& scene) {
  const Elsewhere other;
  cudaMemsetAsync(scene.memory, 7, kSize, scene.first);
  cudaMemcpyPeerAsync(other.memory, 1, scene.memory, 0, kSize, other.stream);
}

// Waits for the first device, where nothing is done.
void WaitForTheOther(const Scene& scene) {
  const Elsewhere other;
  cudaMemsetAsync(other.memory, 7, kSize, other.stream);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(scene.memory, other.memory, kSize, cudaMemcpyDeviceToDevice, scene.first);
}

void PeerOfNobody(const Scene& scene) {
  const Elsewhere other;
  cudaMemcpyPeerAsync(other.memory, 0, scene.memory, 0, kSize, other.stream);
  cudaMemcpyPeerAsync(other.memory, 1, scene.memory, 1, kSize, other.stream);
}

void ForeignMemory(const Scene& scene) {
  const Elsewhere other;
  cudaMemsetAsync(scene.memory, 1, kSize, other.stream);
}

void ForeignEvent(const Scene& scene) {
  const Elsewhere other;
  std::printf("record: %s\n", cudaGetErrorString(cudaEventRecord(other.event, scene.first)));
}

void ForeignGraph(const Scene& scene) {
  const Elsewhere other;
  const cudaGraphExec_t graph = scene.Capture();
  std::printf("launch: %s\n", cudaGetErrorString(cudaGraphLaunch(graph, other.stream)));
  cudaGraphExecDestroy(graph);
}

void ForeignKernel(const Scene&) {
  const Elsewhere other;
  void* arguments[] = {nullptr};
  const cudaError_t launched = cudaLaunchKernel(reinterpret_cast<const void*>(&ForeignKernel), 1, 1,
                                                arguments, 0, other.stream);
  std::printf("launch: %s\n", cudaGetErrorString(launched));
}

// Each device has its own.
void MemoryOfEach(const Scene&) {
  const Elsewhere other;
  for (const int device : {0, 1}) {
    size_t free_bytes = 0, total = 0;
    cudaSetDevice(device);
    void* memory = nullptr;
    const cudaError_t made = cudaMalloc(&memory, size_t{1} << 19);
    cudaMemGetInfo(&free_bytes, &total);
    std::printf("device %d: %s, %zu of %zu free\n", device, cudaGetErrorString(made), free_bytes,
                total);
    cudaFree(memory);
  }
  cudaSetDevice(0);
}

}  // namespace

std::vector<Case> TwoDeviceCases() {
  return {{"copy_between_devices", CopyBetweenDevices},
          {"copy_too_early", CopyTooEarly},
          {"wait_for_the_other", WaitForTheOther},
          {"peer_of_nobody", PeerOfNobody},
          {"foreign_memory", ForeignMemory},
          {"foreign_event", ForeignEvent},
          {"foreign_graph", ForeignGraph},
          {"foreign_kernel", ForeignKernel},
          {"memory_of_each", MemoryOfEach}};
}

}  // namespace lzero::null_gpu
