// Breaks one rule of CUDA, named on the command line, by plain calls of the runtime: misuse_test.py
// wants each to be told. "nothing" breaks none.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

constexpr size_t kSize = 1 << 16;

// Two streams that wait for nothing, and memory that both know.
struct Scene {
  Scene() {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaMalloc(&memory, kSize);
    cudaHostAlloc(&pinned, kSize, cudaHostAllocDefault);
  }
  void Close() const {
    cudaDeviceSynchronize();
    cudaFree(memory);
    cudaFreeHost(pinned);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  }
  // A graph that fills the memory.
  cudaGraphExec_t Capture() const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    cudaMemsetAsync(memory, 1, kSize, first);
    if (cudaStreamEndCapture(first, &graph) != cudaSuccess) return nullptr;
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphDestroy(graph);
    return made;
  }

  cudaStream_t first = nullptr, second = nullptr;
  void *memory = nullptr, *pinned = nullptr;
};

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

void OutOfMemory(const Scene&) {
  void* memory = nullptr;
  std::printf("cudaMalloc: %s\n", cudaGetErrorString(cudaMalloc(&memory, size_t{2} << 20)));
}

// Memory, a stream and an event of the second device.
struct Elsewhere {
  Elsewhere() {
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&memory, kSize);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaSetDevice(0);
  }
  ~Elsewhere() {
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    cudaFree(memory);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    cudaSetDevice(0);
  }

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
};

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
  cudaMemcpyPeerAsync(other.memory, 0, scene.memory, 1, kSize, other.stream);
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

int main(int argc, char** argv) {
  constexpr struct {
    const char* name;
    void (*run)(const Scene&);
    bool closes;
  } kCases[] = {{"nothing", Nothing, true},
                {"foreign_stream", ForeignStream, true},
                {"freed_under_graph", FreedUnderGraph, false},
                {"pageable_in_capture", PageableInCapture, true},
                {"wait_in_capture", WaitInCapture, false},
                {"two_captures", TwoCaptures, false},
                {"legacy_in_capture", LegacyInCapture, false},
                {"fork", Fork, true},
                {"fork_over_same_bytes", ForkOverSameBytes, true},
                {"fork_without_join", ForkWithoutJoin, true},
                {"event_of_before", EventOfBefore, true},
                {"another_thread", AnotherThread, true},
                {"allocation_in_capture", AllocationInCapture, true},
                {"failed_capture", FailedCapture, false},
                {"out_of_memory", OutOfMemory, true},
                {"left", [](const Scene&) {}, false},
                {"copy_between_devices", CopyBetweenDevices, true},
                {"copy_too_early", CopyTooEarly, true},
                {"wait_for_the_other", WaitForTheOther, true},
                {"peer_of_nobody", PeerOfNobody, true},
                {"foreign_memory", ForeignMemory, true},
                {"foreign_event", ForeignEvent, true},
                {"foreign_graph", ForeignGraph, true},
                {"foreign_kernel", ForeignKernel, true},
                {"memory_of_each", MemoryOfEach, true}};
  for (const auto& [name, run, closes] : kCases) {
    if (argc != 2 || argv[1] != std::string(name)) continue;
    const Scene scene;
    run(scene);
    if (closes) scene.Close();
    return 0;
  }
  return 2;
}
