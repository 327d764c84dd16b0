// Breaks one rule of CUDA, named on the command line, by plain calls of the runtime: misuse_test.py
// wants each to be told. "nothing" breaks none.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>

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
                {"allocation_in_capture", AllocationInCapture, true},
                {"failed_capture", FailedCapture, false},
                {"out_of_memory", OutOfMemory, true},
                {"left", [](const Scene&) {}, false}};
  for (const auto& [name, run, closes] : kCases) {
    if (argc != 2 || argv[1] != std::string(name)) continue;
    const Scene scene;
    run(scene);
    if (closes) scene.Close();
    return 0;
  }
  return 2;
}
