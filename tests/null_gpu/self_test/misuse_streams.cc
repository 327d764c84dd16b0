// Streams and captures.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "tests/null_gpu/self_test/misuse.h"

namespace lzero::null_gpu {
namespace {

// Orders two streams by an event, and replays a graph.
void Nothing(const Scene& scene) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaMemsetAsync(scene.memory, 1, kSize, scene.first);
  cudaEventRecord(event, scene.first);
  cudaStreamWaitEvent(scene.second, event, 0);
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.second);
  cudaEventRecord(event, scene.second);
  cudaEventSynchronize(event);
  cudaEventDestroy(event);
  if (static_cast<const char*>(scene.pinned)[kSize - 1] != 1) std::printf("wrong bytes\n");
  const cudaGraphExec_t graph = scene.Capture();
  cudaGraphLaunch(graph, scene.first);
  cudaStreamSynchronize(scene.first);
  cudaGraphExecDestroy(graph);
}

void ForeignStream(const Scene& scene) {
  cudaMemsetAsync(scene.memory, 1, kSize, scene.first);
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.second);
}

void WriteUnderReader(const Scene& scene) {
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.first);
  cudaMemsetAsync(scene.memory, 1, kSize, scene.second);
}

void FreedUnderGraph(const Scene& scene) {
  const cudaGraphExec_t graph = scene.Capture();
  cudaFree(scene.memory);
  cudaGraphLaunch(graph, scene.first);
}

void PageableInCapture(const Scene& scene) {
  char bytes[16] = "";
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  cudaMemcpyAsync(scene.memory, bytes, sizeof(bytes), cudaMemcpyHostToDevice, scene.first);
  cudaStreamEndCapture(scene.first, &graph);
}

void WaitInCapture(const Scene& scene) {
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  cudaDeviceSynchronize();
}

void TwoCaptures(const Scene& scene) {
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  cudaStreamBeginCapture(scene.second, cudaStreamCaptureModeThreadLocal);
}

void LegacyInCapture(const Scene& scene) {
  cudaStream_t blocking = nullptr;
  cudaStreamCreate(&blocking);
  cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal);
  cudaMemsetAsync(scene.memory, 1, kSize, nullptr);
}

// A capture of two streams, each of which fills one half of the memory from its
// begin on; the first waits for the second where it `joins`.
cudaError_t CaptureFork(const Scene& scene, const size_t (&begins)[2], bool joins,
                        cudaGraph_t* graph) {
  cudaEvent_t forked = nullptr, joined = nullptr;
  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(forked, scene.first);
  cudaStreamWaitEvent(scene.second, forked, 0);
  cudaMemsetAsync(static_cast<char*>(scene.memory) + begins[0], 1, kSize / 2, scene.first);
  cudaMemsetAsync(static_cast<char*>(scene.memory) + begins[1], 2, kSize / 2, scene.second);
  cudaEventRecord(joined, scene.second);
  if (joins) cudaStreamWaitEvent(scene.first, joined, 0);
  const cudaError_t ended = cudaStreamEndCapture(scene.first, graph);
  cudaEventDestroy(forked);
  cudaEventDestroy(joined);
  return ended;
}

// Replays a captured fork, twice, and reads what both streams wrote.
void ReplayFork(const Scene& scene, const size_t (&begins)[2]) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  CaptureFork(scene, begins, true, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(made, scene.first);
  cudaMemcpyAsync(scene.pinned, scene.memory, kSize, cudaMemcpyDeviceToHost, scene.first);
  cudaStreamSynchronize(scene.first);
  cudaGraphExecDestroy(made);
  const auto* bytes = static_cast<const char*>(scene.pinned);
  std::printf("fork: %d %d\n", bytes[0], bytes[kSize - 1]);
}

void Fork(const Scene& scene) { ReplayFork(scene, {0, kSize / 2}); }
void ForkOverSameBytes(const Scene& scene) { ReplayFork(scene, {0, kSize / 4}); }

void ForkWithoutJoin(const Scene& scene) {
  cudaGraph_t graph = nullptr;
  std::printf("end: %s\n", cudaGetErrorString(CaptureFork(scene, {0, kSize / 2}, false, &graph)));
}

// The event names work that is no part of the capture.
void EventOfBefore(const Scene& scene) {
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, scene.second);
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  std::printf("wait: %s\n", cudaGetErrorString(cudaStreamWaitEvent(scene.first, event, 0)));
  std::printf("end: %d\n", cudaStreamEndCapture(scene.first, &graph));
  cudaEventDestroy(event);
}

// As libtorch's backward does, which runs in a thread of its own.
void AnotherThread(const Scene& scene) {
  cudaGraph_t graph = nullptr;
  size_t num_nodes = 0;
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  std::thread([&] {
    void* memory = nullptr;
    cudaMemsetAsync(scene.memory, 1, kSize, scene.first);
    std::printf("cudaMalloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, kSize)));
    cudaFree(memory);
  }).join();
  cudaStreamEndCapture(scene.first, &graph);
  cudaGraphGetNodes(graph, nullptr, &num_nodes);
  std::printf("nodes: %zu\n", num_nodes);
  cudaGraphDestroy(graph);
}

// Refused, and no violation but under strict_capture.
void AllocationInCapture(const Scene& scene) {
  void* memory = nullptr;
  cudaStreamBeginCapture(scene.first, cudaStreamCaptureModeThreadLocal);
  std::printf("cudaMalloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, kSize)));
  cudaGraph_t graph = nullptr;
  std::printf("end: %s\n", cudaGetErrorString(cudaStreamEndCapture(scene.first, &graph)));
}

void FailedCapture(const Scene& scene) {
  for (int i = 1; i <= 3; ++i) std::printf("capture %d: %d\n", i, scene.Capture() != nullptr);
}

void DestroyedStream(const Scene& scene) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamDestroy(stream);
  cudaMemsetAsync(scene.memory, 1, kSize, stream);
}

void DestroyedInCapture(const Scene&) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  cudaStreamDestroy(stream);
}

}  // namespace

std::vector<Case> StreamCases() {
  return {{"nothing", Nothing},
          {"foreign_stream", ForeignStream},
          {"write_under_reader", WriteUnderReader},
          {"freed_under_graph", FreedUnderGraph, false},
          {"pageable_in_capture", PageableInCapture},
          {"wait_in_capture", WaitInCapture, false},
          {"two_captures", TwoCaptures, false},
          {"legacy_in_capture", LegacyInCapture, false},
          {"fork", Fork},
          {"fork_over_same_bytes", ForkOverSameBytes},
          {"fork_without_join", ForkWithoutJoin},
          {"event_of_before", EventOfBefore},
          {"another_thread", AnotherThread},
          {"allocation_in_capture", AllocationInCapture},
          {"failed_capture", FailedCapture, false},
          {"destroyed_stream", DestroyedStream},
          {"destroyed_in_capture", DestroyedInCapture}};
}

}  // namespace lzero::null_gpu
