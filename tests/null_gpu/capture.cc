#include "tests/null_gpu/capture.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/null_gpu/device.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"

namespace lzero::null_gpu {
namespace {

size_t NumNodes(const Graph& graph) {
  return static_cast<size_t>(
      std::count_if(graph.items.begin(), graph.items.end(),
                    [](const CaptureItem& item) { return item.work != nullptr; }));
}

int BranchOf(const Stream& stream) {
  const std::vector<int>& streams = stream.capture->streams;
  return static_cast<int>(std::find(streams.begin(), streams.end(), stream.id) - streams.begin());
}

// Whether the stream that began the capture waits for all that its branches did.
bool IsJoined(const Capture& capture) {
  for (size_t i = 0; i < capture.clocks.size(); ++i) {
    const int branch = static_cast<int>(i);
    const auto own = capture.clocks[i].find(branch), known = capture.clocks[0].find(branch);
    if (own == capture.clocks[i].end()) continue;
    if (known == capture.clocks[0].end() || known->second < own->second) return false;
  }
  return true;
}

// Puts the graph on `stream`, each of its other branches on a stream of its own.
void Launch(const Graph& graph, Stream* stream) {
  std::vector<Stream*> branches = {stream};
  while (branches.size() < graph.num_branches) branches.push_back(MakeStream(false, graph.device));
  struct Point {
    Position position;
    Clock clock;
  };
  std::vector<Point> events(graph.num_events);
  for (const CaptureItem& item : graph.items) {
    Stream* branch = branches[static_cast<size_t>(item.branch)];
    if (item.work != nullptr) {
      Count(IsCopy(*item.work) ? "graph_copies" : "graph_kernels");
      Enqueue(branch, item.work);
    } else if (item.waits) {
      EnqueueWait(branch, events[item.event].position, events[item.event].clock);
    } else {
      events[item.event] = {EndOf(branch), ClockOf(*branch)};
    }
  }
  for (size_t i = 1; i < branches.size(); ++i) DestroyStream(branches[i]);
}

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

// Whether a call that is unsafe in captures, made by this thread, meets this one.
bool Meets(const Capture& capture) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.mode == cudaStreamCaptureModeRelaxed) return false;
  if (capture.thread == std::this_thread::get_id()) return true;
  return capture.mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
}

bool IsAnyCapturing() {
  for (const auto& [id, stream] : AllStreams()) {
    if (stream->capture != nullptr) return true;
  }
  return false;
}

Graph* ToGraph(void* handle) { return static_cast<Graph*>(handle); }

void PrintNodes(const Graph& graph) {
  std::map<std::string, int> names;
  for (const CaptureItem& item : graph.items) {
    if (item.work != nullptr) ++names[item.work->name];
  }
  std::fprintf(stderr, "null GPU: a graph of %zu nodes:", NumNodes(graph));
  for (const auto& [name, count] : names) std::fprintf(stderr, " %d x %s;", count, name.c_str());
  std::fprintf(stderr, "\n");
}

}  // namespace

bool SpoilCapture(Stream* stream, const std::string& call) {
  if (stream->capture == nullptr) return false;
  stream->capture->is_invalid = true;
  Count("refused_in_capture");
  if (GetSettings().strict_capture) Violation(call + " in a capture");
  return true;
}

bool RefuseInCapture(const std::string& call) {
  bool is_refused = false;
  for (const auto& [id, stream] : AllStreams()) {
    if (stream->capture == nullptr || !Meets(*stream->capture)) continue;
    is_refused = SpoilCapture(stream.get(), call);
  }
  return is_refused;
}

bool RefuseLegacy(const Stream& stream, const std::string& work) {
  if (!stream.is_legacy) return false;
  for (const auto& [id, other] : AllStreams()) {
    if (other->capture == nullptr || !other->is_blocking || other->device != stream.device)
      continue;
    other->capture->is_invalid = true;
    Violation(work + " on the legacy stream while a blocking stream captures");
    return true;
  }
  return false;
}

void AddToCapture(const Stream& stream, std::shared_ptr<const Work> work) {
  Capture& capture = *stream.capture;
  const int branch = BranchOf(stream);
  ++capture.clocks[static_cast<size_t>(branch)][branch];
  capture.graph.items.push_back({.branch = branch, .work = std::move(work)});
}

CapturedEvent RecordInCapture(const Stream& stream) {
  Capture& capture = *stream.capture;
  const int branch = BranchOf(stream);
  const size_t event = capture.events.size();
  capture.events.push_back(capture.clocks[static_cast<size_t>(branch)]);
  capture.graph.items.push_back({.branch = branch, .work = nullptr, .event = event});
  return {stream.capture, event, true};
}

cudaError_t WaitInCapture(Stream* stream, const CapturedEvent& event) {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (stream->capture != nullptr && stream->capture != capture) {
    SpoilCapture(stream, "waiting for an event from outside");
    return capture == nullptr ? cudaErrorStreamCaptureIsolation : cudaErrorStreamCaptureMerge;
  }
  if (capture == nullptr) return cudaErrorCapturedEvent;
  if (stream->is_legacy) {
    capture->is_invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (stream->capture == nullptr) {
    stream->capture = capture;
    capture->streams.push_back(stream->id);
    capture->clocks.emplace_back();
  }
  const int branch = BranchOf(*stream);
  Merge(capture->events[event.event], &capture->clocks[static_cast<size_t>(branch)]);
  capture->graph.items.push_back(
      {.branch = branch, .work = nullptr, .event = event.event, .waits = true});
  return cudaSuccess;
}

void WaitForAll(int device) {
  std::vector<Position> ends;
  for (const auto& [id, stream] : AllStreams()) {
    if (device != kAnyDevice && stream->device != device) continue;
    ends.push_back({id, stream->issued});
    TellHost(ClockOf(*stream));
  }
  for (const Position& end : ends) RunUntil(end);
}

}  // namespace lzero::null_gpu

using lzero::null_gpu::Fail;
using lzero::null_gpu::FindStream;
using lzero::null_gpu::Graph;
using lzero::null_gpu::Lock;
using lzero::null_gpu::Stream;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const Lock lock;
  static unsigned long long next_id = 1;
  Stream* stream = FindStream(handle);
  if (stream == nullptr || stream->is_legacy) return Fail(cudaErrorStreamCaptureUnsupported);
  if (stream->capture != nullptr) return Fail(cudaErrorIllegalState);
  if (lzero::null_gpu::IsAnyCapturing()) lzero::null_gpu::Violation("two captures at once");
  stream->capture.reset(new lzero::null_gpu::Capture{.graph = {{}, 1, 0, stream->device},
                                                     .streams = {stream->id},
                                                     .clocks = {{}},
                                                     .events = {},
                                                     .mode = mode,
                                                     .thread = std::this_thread::get_id(),
                                                     .id = next_id++});
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const Lock lock;
  static int num_captures = 0;
  *graph = nullptr;
  Stream* stream = FindStream(handle);
  if (stream == nullptr || stream->capture == nullptr) return Fail(cudaErrorIllegalState);
  const auto capture = stream->capture;
  if (capture->streams[0] != stream->id) return Fail(cudaErrorStreamCaptureUnmatched);
  for (const auto& [id, other] : lzero::null_gpu::AllStreams()) {
    if (other->capture == capture) other->capture.reset();
  }
  const bool must_fail = ++num_captures == lzero::null_gpu::GetSettings().fail_capture;
  if (capture->is_invalid || must_fail) return Fail(cudaErrorStreamCaptureInvalidated);
  if (!lzero::null_gpu::IsJoined(*capture)) return Fail(cudaErrorStreamCaptureUnjoined);
  capture->graph.num_branches = capture->streams.size();
  capture->graph.num_events = capture->events.size();
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(std::move(capture->graph)));
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const Lock lock;
  *status = cudaStreamCaptureStatusNone;
  const Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (stream->capture == nullptr) return cudaSuccess;
  *status = stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** /*dependencies*/,
                                     const cudaGraphEdgeData** /*edges*/,
                                     size_t* /*num_dependencies*/) {
  const Lock lock;
  const cudaError_t error = cudaStreamIsCapturing(handle, status);
  if (error != cudaSuccess) return error;
  const Stream* stream = FindStream(handle);
  if (stream->capture == nullptr) return cudaSuccess;
  if (id != nullptr) *id = stream->capture->id;
  if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(&stream->capture->graph);
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, lzero::null_gpu::thread_mode);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* /*nodes*/, size_t* count) {
  *count = lzero::null_gpu::NumNodes(*lzero::null_gpu::ToGraph(graph));
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                          unsigned long long /*flags*/) {
  const Lock lock;
  const Graph& nodes = *lzero::null_gpu::ToGraph(graph);
  if (lzero::null_gpu::GetSettings().print_nodes) lzero::null_gpu::PrintNodes(nodes);
  *made = reinterpret_cast<cudaGraphExec_t>(new Graph(nodes));
  lzero::null_gpu::Count("graphs");
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(made, graph, flags);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete lzero::null_gpu::ToGraph(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  lzero::null_gpu::Count("graphs", -1);
  delete lzero::null_gpu::ToGraph(graph);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t handle) {
  const Lock lock;
  lzero::null_gpu::Count("graph_launches");
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (lzero::null_gpu::SpoilCapture(stream, "cudaGraphLaunch")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  if (lzero::null_gpu::RefuseLegacy(*stream, "cudaGraphLaunch")) {
    return Fail(cudaErrorStreamCaptureImplicit);
  }
  const Graph& nodes = *lzero::null_gpu::ToGraph(graph);
  if (lzero::null_gpu::IsOfAnother("a graph", nodes.device, "a stream", stream->device)) {
    return Fail(cudaErrorInvalidResourceHandle);
  }
  lzero::null_gpu::Launch(nodes, stream);
  return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int /*device*/) {
  const Lock lock;
  const bool is_refused = lzero::null_gpu::RefuseInCapture("cudaDeviceGraphMemTrim");
  return is_refused ? Fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

}  // extern "C"
